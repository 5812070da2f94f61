import type { Identity } from '../../../proxy/records/session.ts';
import type { Policy } from '../../../shared/snapshot/policy.ts';

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

/** A policy as recommended: `allow` names the users, `deny` the tools. */
export const POLICY: Policy = {
  allow: { and: [{ kind: 'domain', matcher: { is: 'example.com' } }] },
  deny: { and: [{ kind: 'mcp_tool', matcher: { starts_with: 'delete_' } }] },
};
