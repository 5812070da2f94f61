import { expect, test } from '@jest/globals';

import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { Criterion } from '../../../../shared/policy/policy.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';

const GROUPS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

const MEMBER_OF_ANY = {
  allow: { or: GROUPS.map((group): Criterion => ({ kind: 'groups', matcher: { is: group } })) },
  deny: { and: [{ kind: 'mcp_tool', matcher: { is: 'drop_table' } }] },
} as const;

test('requests with the same outcomes share a decision, whoever makes them', () => {
  const policy = buildPolicyEvaluator(MEMBER_OF_ANY);

  const decisions = ['alice', 'bob'].map((subject) => policy.decide(aRequest(['a'], { subject })));

  expect(decisions[0]).toBe(decisions[1]);
  expect(policy.decide(aRequest(['b']))).not.toBe(decisions[0]);
});

test('the reasons of a tool call and of another request stay apart', () => {
  const policy = buildPolicyEvaluator(MEMBER_OF_ANY);

  const reasons = [undefined, 'read_file', undefined].map(
    (toolName) => policy.decide(aRequest(['a'], { toolName })).allowReasons,
  );

  expect(reasons).toEqual([['groups-ok'], ['groups-ok', 'mcp-tool-ok'], ['groups-ok']]);
});

test('decisions stay right when more outcomes occur than are remembered', () => {
  const policy = buildPolicyEvaluator(MEMBER_OF_ANY);
  const sets = Array.from({ length: 2 ** GROUPS.length }, (_, bits) =>
    GROUPS.filter((_group, at) => (bits & (1 << at)) !== 0),
  );

  for (const toolName of [undefined, 'read_file', 'drop_table', 'read_file']) {
    for (const groups of sets) {
      expect(policy.decide(aRequest(groups, { toolName }))).toMatchObject({
        allow: groups.length > 0 && toolName !== 'drop_table',
        deny: toolName === 'drop_table',
      });
    }
  }
});

function aRequest(
  groups: readonly string[],
  { subject = 'alice', toolName }: { subject?: string; toolName?: string | undefined } = {},
): ReturnType<typeof aPolicyInput> {
  return aPolicyInput({ identity: { subject, groups, claims: {} }, toolName });
}
