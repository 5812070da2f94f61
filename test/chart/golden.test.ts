import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { describeChart } from '../support/chart/describe-chart.ts';
import { renderText, WITH_PROMETHEUS_OPERATOR } from '../support/chart/helm.ts';
import { VALUE_SETS } from '../support/chart/value-sets.ts';

/** Copies of files that have tests of their own, and are long. */
const COPIES = /^kind: (CustomResourceDefinition|PrometheusRule)$|^ {2}gatehouse\.json: /m;

describeChart('the chart', () => {
  test.each(VALUE_SETS)('renders $name as its golden file shows', ({ name, values }) => {
    const rendered = withoutCopies(renderText(values, WITH_PROMETHEUS_OPERATOR));
    const file = join(import.meta.dirname, `${name}.out.yaml`);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, rendered);

    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(rendered);
  });
});

function withoutCopies(rendered: string): string {
  return rendered
    .split(/^---\n/m)
    .map((document) => {
      if (!COPIES.test(document)) return document;
      return `${document.split('\n').slice(0, 12).join('\n')}\n# And so on.\n`;
    })
    .join('---\n');
}
