import { SPEC, type Requirements } from './requirement.ts';

/** Policies and the authorization log. */
export const POLICY = {
  'log.record': {
    source: SPEC.log,
    behavior: 'Every authorization check emits one record of the listed fields.',
  },
  'log.fields-selected': {
    source: SPEC.log,
    behavior: '`authorize_log_fields` selects the fields; MCP fields only if named.',
  },
  'log.mcp-fields': {
    source: SPEC.log,
    behavior:
      '`tools/list` logs `mcp-method`; `tools/call` also `mcp-tool` and `mcp-tool-parameters`.',
  },
  'log.reasons': {
    source: SPEC.log,
    behavior: 'Reasons are codes: `domain-ok`, `mcp-tool-ok`, `mcp-tool-unauthorized`, ...',
  },
  'policy.groups-of-criteria': {
    source: SPEC.policy,
    behavior: '`allow` and `deny` hold lists of criteria; deny wins.',
  },
  'policy.operator-is': { source: SPEC.policy, behavior: '`is` matches the exact name.' },
  'policy.operator-starts-with': { source: SPEC.policy, behavior: '`starts_with`: prefix.' },
  'policy.operator-ends-with': { source: SPEC.policy, behavior: '`ends_with`: suffix.' },
  'policy.operator-contains': { source: SPEC.policy, behavior: '`contains`: substring.' },
  'policy.operator-in': { source: SPEC.policy, behavior: '`in`: one of the values.' },
  'policy.operator-not-in': { source: SPEC.policy, behavior: '`not_in`: none of the values.' },
  'policy.tool-only-for-calls': {
    source: SPEC.policy,
    behavior: 'Rule 1: `mcp_tool` is false for every method but `tools/call`.',
  },
  'policy.tool-name-of-payload': {
    source: SPEC.policy,
    behavior: 'Rule 2: the name matched is the `name` in the payload.',
  },
  'policy.deny-spares-other-methods': {
    source: SPEC.policy,
    behavior: 'Rule 3: under `deny`, requests that call no tool are not blocked by `mcp_tool`.',
  },
  'policy.allow-needs-other-clauses': {
    source: SPEC.policy,
    behavior: 'Rule 4: only under `allow`, `mcp_tool` does not allow other methods.',
  },
  'policy.tool-reasons': {
    source: SPEC.policy,
    behavior:
      'Rule 5: a permitted tool logs allow true and `mcp-tool-ok`, whatever the policy; a blocked one allow false and `mcp-tool-unauthorized`.',
  },
  'policy.tool-denial': {
    source: 'Route: mcp.server.toolDenial; GatewaySettings: toolDenial',
    behavior:
      'A denied tool call is answered as a JSON-RPC error or as a result with `isError`; the route decides before the settings.',
  },
  'policy.tool-arguments': {
    source: 'docs/policies.md: Arguments of tools',
    behavior:
      '`mcp_tool_argument` decides by an argument of a call; one that is absent or unreadable is denied. Its denials are those of `mcp_tool`.',
  },
  'policy.mcp-subjects': {
    source: 'docs/policies.md: Resources and prompts',
    behavior:
      '`mcp_method`, `mcp_resource` and `mcp_prompt` decide by the body; what they could misread is refused.',
  },
  'policy.preflights': {
    source: 'docs/policies.md: Preflights',
    behavior:
      'A preflight without credentials is permitted exactly where `cors_preflight` allows it and nothing denies it.',
  },
  'policy.addresses-and-times': {
    source: 'docs/policies.md: Addresses; Times',
    behavior: '`source_ip` decides by the address of the client, and the others by the time.',
  },
  'policy.method-names': {
    source: SPEC.policy,
    behavior:
      'Rule 1: where a policy reads messages, a method that a server could take for another one is refused.',
  },
} as const satisfies Requirements;
