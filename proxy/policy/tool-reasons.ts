import { REASONS_OF_TOOL_CALLS } from '../../shared/policy/criteria.ts';
import type { Decision } from './decision.ts';

/** Codes of `deny` that mean a denied tool call. */
const DENIED_CALL = REASONS_OF_TOOL_CALLS.map(({ whenFalse }) => whenFalse);

/**
 * Adds the reasons about the tool to a decision. The authorization log must show them at any position of
 * `mcp_tool` and `mcp_tool_argument` (specification: Evaluation rules, 5, and Errors):
 *
 * - a request denied by one of them in `deny` has `allow` false with `mcp-tool-unauthorized`, besides
 *   the reasons of `deny` itself;
 * - a tool call that is permitted has `mcp-tool-ok` among the reasons of `allow`.
 *
 * Never turns a denial into a permission.
 */
export function withToolReasons(decision: Decision, callsTool: boolean): Decision {
  const { allow, allowReasons, deny, denyReasons } = decision;
  if (deny) {
    if (!DENIED_CALL.some((reason) => denyReasons.includes(reason))) return decision;
    const reasons = withReason(allow ? [] : allowReasons, 'mcp-tool-unauthorized');
    return { ...decision, allow: false, allowReasons: reasons };
  }
  if (!allow || !callsTool) return decision;
  return { ...decision, allowReasons: withReason(allowReasons, 'mcp-tool-ok') };
}

function withReason(reasons: readonly string[], reason: string): readonly string[] {
  return reasons.includes(reason) ? reasons : [...reasons, reason];
}
