import type { Policy } from '../../../shared/snapshot/policy.ts';
import { all, andThen, made, invalid, type CompileResult } from '../compile-result.ts';

const BLOCKS = ['allow', 'deny'] as const;
const GROUPS = ['and', 'or', 'not', 'nor'] as const;

/**
 * Reports each `mcp_tool` in the policy of a route that is not an MCP server.
 *
 * Attack: requests of such a route are not searched for tools. If `mcp` was forgotten, a `deny` of a
 * tool would silently stop nothing.
 */
export function forbidTools(policy: Policy, path: string): CompileResult<Policy> {
  const places = BLOCKS.flatMap((block) =>
    GROUPS.flatMap((group) =>
      (policy[block]?.[group] ?? []).flatMap(({ kind }, index) =>
        kind === 'mcp_tool' ? [`${path}.${block}.${group}[${String(index)}].mcp_tool`] : [],
      ),
    ),
  );
  const problems = places.map((place) =>
    invalid(place, 'InvalidPolicy', 'requires mcp.server: only MCP routes have tools'),
  );
  return andThen(all(problems), () => made(policy));
}
