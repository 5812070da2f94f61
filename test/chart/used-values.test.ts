import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { describeChart } from '../support/chart/describe-chart.ts';
import { CHART, renderText, type RenderOptions } from '../support/chart/helm.ts';
import { markOf, withMarks } from '../support/chart/marked-values.ts';
import { readChartValues } from '../support/generate/chart-values.ts';

const VALUES = readChartValues(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
const SWITCHES = VALUES.filter(({ defaultValue }) => typeof defaultValue === 'boolean');
const OTHERS = VALUES.filter((value) => !SWITCHES.includes(value));
const OPTIONS: RenderOptions = {
  apiVersions: ['monitoring.coreos.com/v1'],
  skipsSchema: true,
};

const SWITCHED_ON = Object.fromEntries(SWITCHES.map(({ path }) => [path, true]));

/** All that can be on at the same time, so that every value can have an effect. */
const ON: Readonly<Record<string, unknown>> = {
  ...SWITCHED_ON,
  'proxy.namespace.sameAsController': false,
  'proxy.autoscaling.enabled': false,
  'proxy.service.type': 'LoadBalancer',
  'secrets.sealingKeys.existingSecret': '',
  'secrets.pushTls.existingSecret': '',
  'secrets.pushTls.existingAuthority': '',
  'redis.existingSecret': '',
  'redis.existingSecretKey': '',
};

/** What excludes something that is on there. */
const ELSE: Readonly<Record<string, unknown>> = {
  'proxy.autoscaling.enabled': true,
  'proxy.namespace.sameAsController': false,
  'proxy.service.type': 'LoadBalancer',
  'image.digest': '',
  fullnameOverride: '',
  'proxy.namespace.name': '',
  'controller.serviceAccount.name': '',
};

describeChart('each value of the chart has an effect', () => {
  const first = renderText(withMarks(OTHERS, ON), OPTIONS);
  const rendered = [
    first,
    renderText(withMarks(OTHERS, { ...ON, 'redis.bundled.image.digest': '' }), OPTIONS),
    renderText(withMarks(OTHERS, { ...SWITCHED_ON, ...ELSE }), OPTIONS),
  ].join('\n');

  test.each(OTHERS.filter(({ path }) => path !== 'proxy.service.type'))('$path', (value) => {
    expect(rendered).toContain(markOf(value, OTHERS));
  });

  test.each(SWITCHES.filter(({ path }) => path !== 'redis.bundled.enabled'))(
    '$path as a switch',
    ({ path }) => {
      const changed = withMarks(OTHERS, {
        ...ON,
        [path]: ON[path] !== true,
        ...(path === 'proxy.namespace.sameAsController' && { 'proxy.namespace.name': '' }),
      });
      expect(renderText(changed, OPTIONS)).not.toBe(first);
    },
  );

  test('proxy.service.type', () => {
    const changed = withMarks(OTHERS, { ...ON, 'proxy.service.type': 'ClusterIP' });
    expect(renderText(changed, OPTIONS)).not.toBe(first);
  });

  test('redis.bundled.enabled', () => {
    const without = { redis: { existingSecret: 'mine', bundled: { enabled: false } } };
    expect(() => renderText({ redis: { bundled: { enabled: false } } })).toThrow('Redis');
    expect(renderText(without)).not.toContain('kind: StatefulSet');
  });
});
