#include "transports/fault/fault_plan.h"

#include <charconv>

namespace rondo {

namespace {

constexpr int64_t kMaxHoldUs = 60'000'000;

struct Token {
  std::string_view whole;
  std::string_view kind;
  uint64_t seed = 0;
  std::optional<std::string_view> argument;
};

Status Refuse(const Token& token, const std::string& why) {
  return InvalidArgument(
      "fault \"" + std::string(token.whole) + "\": " + why +
      "; accepted are corrupt:SEED[:RATE], delay:SEED[:MAX_US], "
      "drop:SEED[:RATE], reorder:SEED[:MAX_US], die:RANK[:MESSAGES]");
}

template <typename Number>
bool ParseNumber(std::string_view text, Number* value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end && !text.empty();
}

// Cuts `text` at the first `separator`; what follows is left in `text`, which
// is nullopt when there was none.
std::string_view Cut(std::optional<std::string_view>* text, char separator) {
  const std::string_view whole = **text;
  const size_t at = whole.find(separator);
  if (at == std::string_view::npos) {
    text->reset();
    return whole;
  }
  *text = whole.substr(at + 1);
  return whole.substr(0, at);
}

Result<Token> Split(std::string_view text) {
  Token token;
  token.whole = text;
  std::optional<std::string_view> rest = text;
  token.kind = Cut(&rest, ':');
  if (!rest) return Refuse(token, "a seed is missing");
  const std::string_view seed = Cut(&rest, ':');
  if (!ParseNumber(seed, &token.seed)) {
    return Refuse(token, "\"" + std::string(seed) + "\" is not a seed (0 to " +
                             std::to_string(UINT64_MAX) + ")");
  }
  token.argument = rest;
  return token;
}

Status ParseMessageFault(const Token& token,
                         std::optional<MessageFault>* fault) {
  if (*fault) return Refuse(token, "this kind is given twice");
  MessageFault parsed{token.seed};
  if (token.argument && (!ParseNumber(*token.argument, &parsed.rate) ||
                         !(parsed.rate > 0 && parsed.rate <= 1))) {
    return Refuse(token, "\"" + std::string(*token.argument) +
                             "\" is not a rate above 0 and at most 1");
  }
  *fault = parsed;
  return Status::Ok();
}

Status ParseHoldFault(const Token& token, std::optional<HoldFault>* fault) {
  if (*fault) return Refuse(token, "this kind is given twice");
  HoldFault parsed{token.seed};
  if (token.argument && (!ParseNumber(*token.argument, &parsed.max_us) ||
                         parsed.max_us < 1 || parsed.max_us > kMaxHoldUs)) {
    return Refuse(token, "\"" + std::string(*token.argument) +
                             "\" is not within 1 to " +
                             std::to_string(kMaxHoldUs) + " microseconds");
  }
  *fault = parsed;
  return Status::Ok();
}

Status ParseDeathFault(const Token& token, std::optional<DeathFault>* fault) {
  if (*fault) return Refuse(token, "this kind is given twice");
  DeathFault parsed{token.seed};
  if (token.argument && (!ParseNumber(*token.argument, &parsed.messages) ||
                         parsed.messages < 0)) {
    return Refuse(token, "\"" + std::string(*token.argument) +
                             "\" is not a number of messages");
  }
  *fault = parsed;
  return Status::Ok();
}

Status AddFault(const Token& token, FaultPlan* plan) {
  if (token.kind == "corrupt") return ParseMessageFault(token, &plan->corrupt);
  if (token.kind == "drop") return ParseMessageFault(token, &plan->drop);
  if (token.kind == "delay") return ParseHoldFault(token, &plan->delay);
  if (token.kind == "reorder") return ParseHoldFault(token, &plan->reorder);
  if (token.kind == "die") return ParseDeathFault(token, &plan->die);
  return Refuse(token, "\"" + std::string(token.kind) + "\" is not a kind");
}

}  // namespace

Result<FaultPlan> ParseFaultPlan(std::string_view text) {
  FaultPlan plan;
  std::optional<std::string_view> rest = text;
  while (rest && !text.empty()) {
    RONDO_ASSIGN_OR_RETURN(Token token, Split(Cut(&rest, ',')));
    RONDO_RETURN_IF_ERROR(AddFault(token, &plan));
  }
  return plan;
}

}  // namespace rondo
