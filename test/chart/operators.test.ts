import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { readArguments } from '../../cli/arguments.ts';
import { SESSIONS_LIST_LINE } from '../../cli/commands/sessions/sessions-flags.ts';
import { readStateFlags } from '../../cli/flags/state-flags.ts';
import { readVersion } from '../../cli/read-version.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import { describeChart } from '../support/chart/describe-chart.ts';
import { CHART, findObject, renderChart, runHelm } from '../support/chart/helm.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/operate-users.md');

/** Returns what a path of members and indices leads to. */
function at(value: unknown, ...path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(value)) return at(value[Number(first)], ...rest);
  return isRecord(value) ? at(value[first], ...rest) : undefined;
}

/** The variables of the proxies, as far as values are texts. */
function variablesOf(proxies: object): Readonly<Record<string, string>> {
  const listed = at(proxies, 'spec', 'template', 'spec', 'containers', '0', 'env');
  const variables = Array.isArray(listed) ? listed.filter(isRecord) : [];
  return Object.fromEntries(
    variables.flatMap(({ name, value }) =>
      typeof name === 'string' && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

describeChart('operators of an installed gateway', () => {
  test('find the state in a proxy by its variables, with no flag', () => {
    const proxies = findObject(renderChart({}), 'Deployment', 'gatehouse-proxy');
    const flags = readArguments(SESSIONS_LIST_LINE, [], variablesOf(proxies));

    expect(readStateFlags(flags)).toEqual({
      redis: { kind: 'file', value: expect.stringMatching(/^\//) },
      keys: { kind: 'keys', directory: expect.stringMatching(/^\//) },
    });
  });

  test('find the proxies where the commands of the document look for them', () => {
    const { metadata } = findObject(renderChart({}), 'Deployment', 'gatehouse-proxy');
    const text = readFileSync(DOCUMENT, 'utf8');
    const places = [...text.matchAll(/kubectl exec (\S+) --namespace (\S+) --/g)].map(
      ([, object, namespace]) => ({ object, namespace }),
    );

    expect(places.length).toBeGreaterThan(1);
    for (const place of places) {
      expect(place).toEqual({
        object: `deploy/${metadata.name}`,
        namespace: metadata.namespace,
      });
    }
  });

  test('get the program of the version that the chart names', async () => {
    const { code, stdout } = runHelm(['show', 'chart', CHART]);

    expect(code).toBe(0);
    expect(at(parse(stdout), 'appVersion')).toBe(await readVersion());
  });
});
