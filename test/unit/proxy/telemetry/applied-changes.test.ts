import { expect, test } from '@jest/globals';

import { changesBetween } from '../../../../proxy/configuration/snapshot-changes.ts';
import { appliedChanges } from '../../../../proxy/telemetry/applied-changes.ts';
import { aCompiledRoute, aHeldHost, aSnapshot } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const routes = (count: number): ReturnType<typeof aCompiledRoute>[] =>
  Array.from({ length: count }, (_, number) =>
    aCompiledRoute({
      name: `default/app-${String(number)}`,
      host: `app-${String(number)}.example`,
    }),
  );

test('what a configuration changed is named, up to a bound, and counted by kind', () => {
  const snapshot = aSnapshot(compiledSettings(), ...routes(10_000));
  const applied = appliedChanges('v1', changesBetween(undefined, snapshot));
  expect(applied).toMatchObject({
    ...{ version: 'v1', resources: 10_001, kinds: { settings: 1, route: 10_000 } },
  });
  expect(applied?.changes).toHaveLength(50);
  expect(JSON.stringify(applied).length).toBeLessThan(4_000);
});

test('what was added, changed and removed is told apart', () => {
  const [first, second, third] = routes(3);
  if (!first || !second || !third) throw new Error('there are three routes');
  const before = aSnapshot(compiledSettings(), first, second);
  const changed = { ...second, allowWebsockets: true };
  const after = aSnapshot(compiledSettings(), changed, third);
  expect(appliedChanges('v2', changesBetween(before, after))).toEqual({
    ...{ version: 'v2', resources: 3, kinds: { route: 3 } },
    changes: [
      { key: 'route/default/app-1', change: 'changed' },
      { key: 'route/default/app-2', change: 'added' },
      { key: 'route/default/app-0', change: 'removed' },
    ],
  });
});

test('hosts that are held, and nothing, are not worth a record', () => {
  const before = aSnapshot(compiledSettings());
  const after = aSnapshot(compiledSettings(), aHeldHost('a.example'));
  expect(appliedChanges('v2', changesBetween(before, after))).toBeUndefined();
  expect(appliedChanges('v2', [])).toBeUndefined();
});
