import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { ALERT_CASES, WELL, type AlertCase } from '../../support/metrics/alert-cases.ts';
import { runPromtool } from '../../support/metrics/promtool.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

const ALERTS = join(import.meta.dirname, '../../../charts/gatehouse/alerts/gatehouse.yaml');

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await TemporaryDirectory.create();
});
afterAll(() => directory[Symbol.asyncDispose]());

/** Returns how promtool says that not just these alerts fire after 40 minutes; nothing if they do. */
async function faults(series: AlertCase['series'], firing: string, times: number): Promise<string> {
  const unit = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname=~"${firing}", alertstate="firing"}) or vector(0)`,
        eval_time: '40m',
        exp_samples: [{ labels: '{}', value: times }],
      },
    ],
  };
  await directory.write('test.yaml', stringify({ rule_files: [ALERTS], tests: [unit] }));
  return runPromtool(['test', 'rules', join(directory.path, 'test.yaml')]);
}

describe('the alerts, as Prometheus evaluates them', () => {
  test.each(ALERT_CASES)('$alert fires', async ({ alert, series }) => {
    expect(await faults(series, alert, 1)).toBe('');
  });

  test('do not fire while all is well', async () => {
    expect(await faults(WELL, '.*', 0)).toBe('');
  });

  test('all have a case', () => {
    // The file of this project, which the tests of its rules read too.
    const { groups } = parse(readFileSync(ALERTS, 'utf8')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect([...new Set(ALERT_CASES.map(({ alert }) => alert))].sort()).toEqual(alerts.sort());
  });
});
