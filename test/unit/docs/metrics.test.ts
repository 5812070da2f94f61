import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { metricsByTable } from '../../support/metrics/metric-sources.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8');

describe('docs/metrics.md', () => {
  test.each([...metricsByTable().values()].flat())('has a row for $name', ({ name, kind }) => {
    expect(DOCUMENT).toMatch(new RegExp(`^\\| \`${name}\` +\\| ${kind} `, 'm'));
  });

  test('has no row for a metric that there is not', () => {
    const rows = [...DOCUMENT.matchAll(/^\| `(gatehouse_\w+)`/gm)].map(([, name]) => name);
    const names = [...metricsByTable().values()].flat().map(({ name }) => name);
    expect(rows.toSorted()).toEqual(names.toSorted());
  });
});
