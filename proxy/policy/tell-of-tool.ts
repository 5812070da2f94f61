import type { Decision, PolicyInput } from './decision.ts';

/**
 * Makes a decision tell of the tool what the authorization log must show, wherever `mcp_tool` stands
 * (specification: Evaluation rules, 5, and Errors):
 *
 * - a request denied by `mcp_tool` in `deny` has `allow` false with `mcp-tool-unauthorized`, besides
 *   what `deny` itself says;
 * - a tool call that is permitted has `mcp-tool-ok` among the reasons of `allow`.
 *
 * For policies with an `mcp_tool` criterion. Never turns a denial into a permission.
 */
export function tellOfTool(decision: Decision, { toolName }: PolicyInput): Decision {
  const { allow, allowReasons, deny, denyReasons } = decision;
  if (deny) {
    if (!denyReasons.includes('mcp-tool-unauthorized')) return decision;
    const reasons = withReason(allow ? [] : allowReasons, 'mcp-tool-unauthorized');
    return { ...decision, allow: false, allowReasons: reasons };
  }
  if (!allow || toolName === undefined) return decision;
  return { ...decision, allowReasons: withReason(allowReasons, 'mcp-tool-ok') };
}

function withReason(reasons: readonly string[], reason: string): readonly string[] {
  return reasons.includes(reason) ? reasons : [...reasons, reason];
}
