import { compilePolicy } from '../../../controller/compile/policy/compile-policy.ts';
import type { Route } from '../../../crds/types.ts';
import type { Identity } from '../../../proxy/records/session.ts';
import type { Policy } from '../../../shared/policy/policy.ts';

type PolicyManifest = NonNullable<Route['spec']['policy']>;

/** The caller of every request that is measured. */
export const IDENTITY = {
  provider: 'bench',
  issuer: 'https://bench.example.com',
  subject: 'alice',
  email: 'alice@example.com',
  name: 'Alice',
  groups: ['engineering'],
  claims: {},
} as const satisfies Identity;

/** A policy for users. */
export const USER_POLICY: PolicyManifest = { allow: { and: [{ domain: 'example.com' }] } };

/** What no tool may be called whose name begins with this. */
export const DENIED_TOOLS = 'delete_';

/** A policy as recommended for MCP: `allow` names the users, `deny` the tools. */
export const TOOL_POLICY: PolicyManifest = {
  ...USER_POLICY,
  deny: { and: [{ mcp_tool: { starts_with: DENIED_TOOLS } }] },
};

/** Returns a policy in compiled form. */
export function compiled(policy: PolicyManifest): Policy {
  const result = compilePolicy(policy, 'policy');
  if (result.kind === 'made') return result.value;
  throw new Error('a policy of this benchmark is not valid');
}
