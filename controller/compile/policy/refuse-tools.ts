import type { Policy } from '../../../shared/snapshot/policy.ts';
import { all, andThen, made, invalid, type CompileResult } from '../compile-result.ts';

const BLOCKS = ['allow', 'deny'] as const;
const GROUPS = ['and', 'or', 'not', 'nor'] as const;

/**
 * Refuses each `mcp_tool` in the policy of a route that is no MCP server.
 *
 * Attack: nothing looks for tools in the requests of such a route, so that a `deny` of a tool would
 * silently stop nothing when `mcp` was forgotten.
 */
export function refuseTools(policy: Policy, path: string): CompileResult<Policy> {
  const places = BLOCKS.flatMap((block) =>
    GROUPS.flatMap((group) =>
      (policy[block]?.[group] ?? []).flatMap(({ kind }, index) =>
        kind === 'mcp_tool' ? [`${path}.${block}.${group}[${String(index)}].mcp_tool`] : [],
      ),
    ),
  );
  const problems = places.map((place) =>
    invalid(place, 'InvalidPolicy', 'needs mcp.server: no other route knows of tools'),
  );
  return andThen(all(problems), () => made(policy));
}
