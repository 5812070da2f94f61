import type { Identity } from '../../../proxy/records/session.ts';
import type { Policy } from '../../../shared/snapshot/policy.ts';

/** The caller of every request that is measured. */
export const IDENTITY: Identity = {
  provider: 'bench',
  subject: 'alice',
  email: 'alice@example.com',
  name: 'Alice',
  groups: ['engineering'],
  claims: {},
};

/** A policy as recommended: `allow` names the users, `deny` the tools. */
export const POLICY: Policy = {
  allow: { and: [{ kind: 'domain', matcher: { is: 'example.com' } }] },
  deny: { and: [{ kind: 'mcp_tool', matcher: { starts_with: 'delete_' } }] },
};
