import fc from 'fast-check';

import type { Identity } from '../../proxy/records/session.ts';
import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import type { Criterion, Policy, PolicyBlock } from '../../shared/policy/policy.ts';

/** A text, such as a value or an operand. */
export const text = fc.constantFrom('', 'a', 'b', 'a@b', 'A@B', 'POST', '/a', '__proto__');
const matcher = fc.oneof(
  fc.record({ is: text }),
  fc.record({ contains: text }),
  fc.record({ not_in: fc.array(text, { minLength: 1, maxLength: 2 }) }),
);
const criterion: fc.Arbitrary<Criterion> = fc.oneof(
  fc.constantFrom<Criterion>(
    { kind: 'accept' },
    { kind: 'reject' },
    { kind: 'authenticated_user' },
    { kind: 'cors_preflight' },
    { kind: 'source_ip', networks: ['10.0.0.0/8'] },
    { kind: 'date', after: 0 },
    { kind: 'day_of_week', days: [4], timezone: 'UTC' },
    { kind: 'time_of_day', timezone: 'Asia/Tokyo', after: 75_600, before: 3_600 },
  ),
  fc.record({
    kind: fc.constantFrom(
      'user',
      'email',
      'domain',
      'groups',
      'http_method',
      'http_path',
      'mcp_method',
      'mcp_tool',
      'mcp_resource',
      'mcp_prompt',
    ),
    matcher,
  }),
  fc.record({
    kind: fc.constantFrom('claim', 'mcp_tool_argument'),
    path: fc.array(text, { minLength: 1, maxLength: 3 }),
    matcher,
  }),
);
const group = fc.array(criterion, { minLength: 1, maxLength: 3 });
/** A block of a policy. */
export const block: fc.Arbitrary<PolicyBlock> = fc
  .record({ and: group, or: group, not: group, nor: group }, { requiredKeys: [] })
  .filter((groups) => Object.keys(groups).length > 0);
/** A policy of every kind of criterion. */
export const policy: fc.Arbitrary<Policy> = fc.record(
  { allow: block, deny: block },
  { requiredKeys: [] },
);
const members = fc.dictionary(text, fc.jsonValue({ maxDepth: 3 }));
/** A user. */
export const identity: fc.Arbitrary<Identity> = fc.record(
  {
    provider: text,
    subject: text,
    email: text,
    groups: fc.array(text, { maxLength: 2 }),
    claims: members,
  },
  { requiredKeys: ['provider', 'subject', 'groups', 'claims'] },
);
const absentOr = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
/** A request of a user. */
export const ofUser: fc.Arbitrary<PolicyInput> = fc.record({
  identity,
  method: text,
  path: text,
  clientAddress: fc.constantFrom('', '10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', 'unknown'),
  time: fc.integer({ min: -1e15, max: 1e15 }),
  isPreflight: fc.boolean(),
  mcpMethod: absentOr(text),
  toolName: absentOr(text),
  toolArguments: absentOr(members),
  resources: fc.array(text, { maxLength: 2 }),
  prompt: absentOr(text),
});
