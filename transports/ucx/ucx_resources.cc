#include "transports/ucx/ucx_resources.h"

#include <algorithm>

#include "ucp/api/ucp.h"
#include "uct/api/uct.h"

namespace rondo {
namespace {

std::string KindName(uct_device_type_t type) {
  switch (type) {
    case UCT_DEVICE_TYPE_NET:
      return "network";
    case UCT_DEVICE_TYPE_SHM:
      return "shared memory";
    case UCT_DEVICE_TYPE_ACC:
      return "accelerator";
    case UCT_DEVICE_TYPE_SELF:
      return "self";
    default:
      return "other";
  }
}

void AddResource(UcxResource found, std::vector<UcxResource>* resources) {
  const auto same = [&](const UcxResource& known) {
    return known.transport == found.transport && known.device == found.device;
  };
  if (std::none_of(resources->begin(), resources->end(), same)) {
    resources->push_back(std::move(found));
  }
}

void AddDomain(uct_component_h component, const char* name,
               std::vector<UcxResource>* resources) {
  uct_md_config_t* config = nullptr;
  if (uct_md_config_read(component, nullptr, nullptr, &config) != UCS_OK) {
    return;
  }
  uct_md_h domain = nullptr;
  const ucs_status_t opened = uct_md_open(component, name, config, &domain);
  uct_config_release(config);
  if (opened != UCS_OK) return;
  uct_tl_resource_desc_t* list = nullptr;
  unsigned count = 0;
  if (uct_md_query_tl_resources(domain, &list, &count) == UCS_OK) {
    for (unsigned i = 0; i < count; ++i) {
      AddResource(
          {list[i].tl_name, list[i].dev_name, KindName(list[i].dev_type)},
          resources);
    }
    uct_release_tl_resource_list(list);
  }
  uct_md_close(domain);
}

void AddComponent(uct_component_h component,
                  std::vector<UcxResource>* resources) {
  uct_component_attr_t attributes = {};
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (uct_component_query(component, &attributes) != UCS_OK) return;
  std::vector<uct_md_resource_desc_t> domains(attributes.md_resource_count);
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attributes.md_resources = domains.data();
  if (uct_component_query(component, &attributes) != UCS_OK) return;
  for (const uct_md_resource_desc_t& domain : domains) {
    AddDomain(component, domain.md_name, resources);
  }
}

}  // namespace

std::vector<UcxResource> UcxResources() {
  std::vector<UcxResource> resources;
  uct_component_h* components = nullptr;
  unsigned count = 0;
  if (uct_query_components(&components, &count) != UCS_OK) return resources;
  for (unsigned i = 0; i < count; ++i) AddComponent(components[i], &resources);
  uct_release_component_list(components);
  return resources;
}

}  // namespace rondo
