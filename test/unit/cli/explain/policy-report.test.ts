import { expect, test } from '@jest/globals';

import { policyReport } from '../../../../cli/explain/policy-report.ts';
import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import type { Criterion } from '../../../../shared/policy/policy.ts';
import { aPolicyInput } from '../../../support/policy-input.ts';

test.each<[string, unknown, Criterion]>([
  ['accept', undefined, { kind: 'accept' }],
  ['email', { ends_with: '.test' }, { kind: 'email', matcher: { ends_with: '.test' } }],
  ['claim/a/b', { is: 'c' }, { kind: 'claim', path: ['a', 'b'], matcher: { is: 'c' } }],
  [
    'mcp_tool_argument/a~1b/c~0d',
    { in: ['e'] },
    { kind: 'mcp_tool_argument', path: ['a/b', 'c~d'], matcher: { in: ['e'] } },
  ],
  [
    'source_ip',
    ['10.0.0.0/8', '192.0.2.7'],
    { kind: 'source_ip', networks: ['10.0.0.0/8', '192.0.2.7'] },
  ],
  ['date', { after: '2026-01-31T16:20:00.000Z' }, { kind: 'date', after: 1_769_876_400_000 }],
  [
    'day_of_week',
    { days: ['sunday', 'friday'], timezone: 'UTC' },
    { kind: 'day_of_week', days: [0, 5], timezone: 'UTC' },
  ],
  [
    'time_of_day',
    { after: '22:00:00', before: '06:30:00', timezone: 'UTC' },
    { kind: 'time_of_day', after: 79_200, before: 23_400, timezone: 'UTC' },
  ],
])('an explanation names %s with its operand', (name, operand, criterion) => {
  const explained = buildPolicyEvaluator({ allow: { and: [criterion] } }).explain(aPolicyInput({}));

  const [reported] = policyReport(explained).allow?.groups[0]?.criteria ?? [];

  expect(reported).toMatchObject({ criterion: name });
  expect(reported?.operand).toEqual(operand);
});
