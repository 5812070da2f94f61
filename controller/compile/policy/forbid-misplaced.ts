import { definitionOf } from '../../../shared/policy/criteria.ts';
import type { Policy } from '../../../shared/policy/policy.ts';
import { all, andThen, made, invalid, type CompileResult } from '../compile-result.ts';

const BLOCKS = ['allow', 'deny'] as const;
const GROUPS = ['and', 'or', 'not', 'nor'] as const;

const MISPLACED = {
  mcp: 'requires mcp.server: requests of other routes have no MCP messages',
  web: 'must not be on a route with mcp.server: the gateway itself answers preflights there',
} as const;

/**
 * Reports each criterion that would never be true on its route.
 *
 * Attack: requests of a route that is not an MCP server are not searched for tools. If `mcp` was
 * forgotten, a `deny` of a tool would silently stop nothing.
 */
export function forbidMisplaced(
  policy: Policy,
  kindOfRoute: 'mcp' | 'web',
  path: string,
): CompileResult<Policy> {
  const problems = BLOCKS.flatMap((block) =>
    GROUPS.flatMap((group) =>
      (policy[block]?.[group] ?? []).flatMap(({ kind }, index) => {
        const onlyOn = definitionOf(kind)?.onlyOn;
        if (onlyOn === undefined || onlyOn === kindOfRoute) return [];
        const place = `${path}.${block}.${group}[${String(index)}].${kind}`;
        return [invalid(place, 'InvalidPolicy', MISPLACED[onlyOn])];
      }),
    ),
  );
  return andThen(all(problems), () => made(policy));
}
