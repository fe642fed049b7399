#include "transports/bootstrap/launch.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace rondo {
namespace {

using Variables = std::map<std::string, std::string>;

Result<LaunchInfo> Detect(const Variables& variables) {
  return DetectLaunch(EnvironmentReader(variables));
}

Variables Merge(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const Variables kRondo = {{"RONDO_RANK", "1"},
                          {"RONDO_WORLD_SIZE", "4"},
                          {"RONDO_ROOT", "10.0.0.1:29400"}};
const Variables kTorchrun = {{"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"MASTER_ADDR", "m"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "job7"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "2"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"OMPI_MCA_ess_base_jobid", "12345"}};
const Variables kPmi = {{"PMI_RANK", "3"},
                        {"PMI_SIZE", "4"},
                        {"MPI_LOCALRANKID", "3"},
                        {"MPI_LOCALNRANKS", "4"}};
const Variables kSlurm = {{"SLURM_PROCID", "1"},  {"SLURM_NTASKS", "2"},
                          {"SLURM_LOCALID", "1"}, {"SLURM_JOB_ID", "77"},
                          {"SLURM_STEP_ID", "0"}, {"SLURM_NNODES", "1"}};

TEST(LaunchTest, EachLauncherIsRecognised) {
  struct Case {
    Variables variables;
    Launcher launcher;
    int rank, world_size, local_rank, local_size;
  };
  for (const Case& expected : std::vector<Case>{
           {{}, Launcher::kAlone, 0, 1, 0, 1},
           {kRondo, Launcher::kRondo, 1, 4, -1, -1},
           {kTorchrun, Launcher::kTorchrun, 5, 8, 1, 4},
           {kOpenMpi, Launcher::kOpenMpi, 2, 4, 2, 4},
           {kPmi, Launcher::kPmi, 3, 4, 3, 4},
           {Merge(kSlurm, {{"PMIX_RANK", "1"}}), Launcher::kPmix, 1, 2, 1, 2},
           {kSlurm, Launcher::kSlurm, 1, 2, 1, 2},
       }) {
    const auto info = Detect(expected.variables);
    ASSERT_TRUE(info.ok()) << info.status().ToString();
    EXPECT_EQ(LauncherName(info->launcher), LauncherName(expected.launcher));
    EXPECT_EQ(info->rank, expected.rank);
    EXPECT_EQ(info->world_size, expected.world_size);
    EXPECT_EQ(info->local_rank, expected.local_rank);
    EXPECT_EQ(info->local_size, expected.local_size);
  }
}

TEST(LaunchTest, EarlierLaunchersWin) {
  const Variables mpi = Merge(Merge(kOpenMpi, kPmi), kSlurm);
  EXPECT_EQ(Detect(mpi)->launcher, Launcher::kOpenMpi);
  EXPECT_EQ(Detect(Merge(kTorchrun, mpi))->launcher, Launcher::kTorchrun);
  EXPECT_EQ(Detect(Merge(kRondo, Merge(kTorchrun, mpi)))->launcher,
            Launcher::kRondo);
}

TEST(LaunchTest, HalfALauncherDoesNotCount) {
  EXPECT_EQ(Detect({{"RANK", "1"}})->launcher, Launcher::kAlone);
  EXPECT_EQ(Detect({{"WORLD_SIZE", "8"}})->launcher, Launcher::kAlone);
  EXPECT_EQ(Detect(Merge(kOpenMpi, {{"RANK", "1"}}))->launcher,
            Launcher::kOpenMpi);
  EXPECT_EQ(Detect({{"PMI_RANK", "0"}, {"PMI_SIZE", ""}})->launcher,
            Launcher::kAlone);
  // A batch shell, outside any step.
  Variables batch = kSlurm;
  batch.erase("SLURM_STEP_ID");
  EXPECT_EQ(Detect(batch)->launcher, Launcher::kAlone);
}

TEST(LaunchTest, MinusOneLeavesRondosVariablesToTheLauncher) {
  EXPECT_EQ(Detect(Merge(kOpenMpi,
                         {{"RONDO_RANK", "-1"}, {"RONDO_WORLD_SIZE", "-1"}}))
                ->launcher,
            Launcher::kOpenMpi);
}

TEST(LaunchTest, NonsenseIsRefusedAndTheVariableNamed) {
  struct Case {
    Variables variables;
    std::string named;
  };
  const auto rondo = [](const char* rank, const char* size) {
    return Variables{{"RONDO_RANK", rank}, {"RONDO_WORLD_SIZE", size}};
  };
  for (const Case& bad : std::vector<Case>{
           {rondo("x", "4"), "RONDO_RANK is 'x'"},
           {rondo("1 ", "4"), "RONDO_RANK is '1 '"},
           {rondo("-2", "4"), "RONDO_RANK is '-2'"},
           {rondo("4", "4"), "RONDO_RANK is 4, but RONDO_WORLD_SIZE is 4"},
           {rondo("0", "0"), "RONDO_WORLD_SIZE is '0'"},
           {rondo("0", "99999999999"), "RONDO_WORLD_SIZE"},
           {rondo("0", "-1"), "RONDO_WORLD_SIZE is -1"},
           {{{"RONDO_RANK", "0"}}, "RONDO_WORLD_SIZE is not"},
           {{{"RONDO_WORLD_SIZE", "2"}}, "RONDO_RANK is not"},
           {Merge({{"LOCAL_RANK", "4"}}, kTorchrun), "LOCAL_RANK is 4"},
           {Merge({{"LOCAL_WORLD_SIZE", "9"}}, kTorchrun),
            "LOCAL_WORLD_SIZE is 9"},
           {Merge({{"OMPI_COMM_WORLD_RANK", "4"}}, kOpenMpi),
            "OMPI_COMM_WORLD_RANK is 4"},
           {Merge({{"PMI_SIZE", "many"}}, kPmi), "PMI_SIZE is 'many'"},
           {Merge({{"SLURM_NTASKS", "0x2"}}, kSlurm), "SLURM_NTASKS"},
           {Merge({{"RONDO_ROOT", "nowhere"}}, kRondo), "RONDO_ROOT"},
           {Merge({{"MASTER_PORT", "0"}}, kTorchrun), "MASTER_PORT"},
           {Merge({{"MASTER_PORT", ""}}, kTorchrun), "MASTER_PORT"},
           {Merge({{"MASTER_PORT", "65535"}}, kTorchrun), "MASTER_PORT"},
       }) {
    const auto info = Detect(bad.variables);
    ASSERT_FALSE(info.ok()) << bad.named;
    EXPECT_EQ(info.status().code(), Code::kInvalidArgument);
    EXPECT_NE(info.status().message().find(bad.named), std::string::npos)
        << info.status().ToString();
  }
}

TEST(LaunchTest, LeftOverRankThatContradictsMpirunIsRefused) {
  const Variables stale = Merge(kOpenMpi, {{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  const auto info = Detect(stale);
  ASSERT_FALSE(info.ok());
  EXPECT_NE(info.status().message().find("RANK is 0"), std::string::npos);
  EXPECT_NE(info.status().message().find("OMPI_COMM_WORLD_RANK is 2"),
            std::string::npos);
  // torchrun itself under mpirun is right, and equal values do no harm.
  EXPECT_TRUE(Detect(Merge(kTorchrun, kOpenMpi)).ok());
  EXPECT_TRUE(
      Detect(Merge(kOpenMpi, {{"RANK", "2"}, {"WORLD_SIZE", "4"}})).ok());
}

TEST(LaunchTest, LocalFactsComeFromTheLauncherBelowThatMeansTheSameRank) {
  const Variables same = {{"RONDO_RANK", "2"}, {"RONDO_WORLD_SIZE", "4"}};
  EXPECT_EQ(Detect(Merge(same, kOpenMpi))->local_size, 4);
  EXPECT_EQ(Detect(Merge(same, kOpenMpi))->local_rank, 2);
  EXPECT_EQ(Detect(Merge(kRondo, kOpenMpi))->local_size, -1) << "rank 1 and 2";
}

TEST(LaunchTest, RootComesBeforeFileBeforeMaster) {
  const Variables master = {{"MASTER_ADDR", "m"}, {"MASTER_PORT", "29500"}};
  const Variables file = {{"RONDO_RENDEZVOUS_FILE", "/tmp/meet"}};
  const Variables root = {{"RONDO_ROOT", "[fd00::1]:29400"}};
  auto meeting = Detect(Merge(kOpenMpi, master))->meeting;
  EXPECT_EQ(meeting.kind, Meeting::Kind::kAddress);
  EXPECT_EQ(meeting.host, "m");
  EXPECT_EQ(meeting.port, 29500);
  meeting = Detect(Merge(Merge(kOpenMpi, master), file))->meeting;
  EXPECT_EQ(meeting.kind, Meeting::Kind::kFile);
  EXPECT_EQ(meeting.path, "/tmp/meet");
  EXPECT_FALSE(meeting.private_directory);
  meeting = Detect(Merge(Merge(Merge(kOpenMpi, master), file), root))->meeting;
  EXPECT_EQ(meeting.kind, Meeting::Kind::kAddress);
  EXPECT_EQ(meeting.host, "fd00::1");
  EXPECT_EQ(meeting.port, 29400);
}

TEST(LaunchTest, UnderTorchrunThePortAboveTheAgentsIsUsedAndSaid) {
  const auto info = Detect(kTorchrun);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->meeting.port, 29501);
  EXPECT_EQ(info->meeting.run_id, "job7");
  ASSERT_EQ(info->notes.size(), 1u);
  EXPECT_NE(info->notes[0].find("MASTER_PORT + 1"), std::string::npos);
}

TEST(LaunchTest, OneHostMeetsByAFileNamedAfterTheJob) {
  const Variables runtime = {{"XDG_RUNTIME_DIR", "/run/user/7"}};
  const auto mpi = Detect(Merge(kOpenMpi, runtime))->meeting;
  EXPECT_EQ(mpi.kind, Meeting::Kind::kFile);
  EXPECT_TRUE(mpi.private_directory);
  EXPECT_EQ(mpi.path.find("/run/user/7/rondo-"), 0u);
  EXPECT_NE(mpi.path.find("/ompi-12345"), std::string::npos);
  EXPECT_NE(Detect(kSlurm)->meeting.path.find("/slurm-77.0"),
            std::string::npos);
  EXPECT_EQ(Detect(kSlurm)->meeting.path.find("/tmp/rondo-"), 0u);
  EXPECT_NE(Detect(kPmi)->meeting.path.find("/parent-"), std::string::npos);
  const auto evil =
      Detect(Merge({{"OMPI_MCA_ess_base_jobid", "../../etc/x y"}}, kOpenMpi));
  EXPECT_NE(evil->meeting.path.find("/ompi-.._.._etc_x_y"), std::string::npos);
}

TEST(LaunchTest, SeveralHostsWithoutAPlaceAreToldToSetTheRoot) {
  Variables hosts = kOpenMpi;
  hosts["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  hosts["OMPI_COMM_WORLD_LOCAL_RANK"] = "0";
  const Variables manual = {{"RONDO_RANK", "0"}, {"RONDO_WORLD_SIZE", "2"}};
  for (const Variables& variables : {hosts, manual}) {
    const auto info = Detect(variables);
    ASSERT_FALSE(info.ok());
    EXPECT_NE(info.status().message().find("RONDO_ROOT"), std::string::npos);
  }
}

TEST(LaunchTest, OneRankHasNobodyToMeet) {
  const auto info =
      Detect({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}});
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->meeting.kind, Meeting::Kind::kAlone);
}

}  // namespace
}  // namespace rondo
