import { describe, expect, test } from '@jest/globals';

import type { Compilation } from '../../../../controller/compile/compilation.ts';
import {
  mergeCompilations,
  NOTHING_COMPILED,
} from '../../../../controller/publish/merge-compilations.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';
import { routeVerdict } from '../../../support/verdicts.ts';

const FIRST: Compilation = {
  put: [pushedRoute('a'), pushedRoute('b')],
  deleted: [],
  hosts: new Map(),
  routes: new Map([
    ['default/a', routeVerdict({ generation: 1 })],
    ['default/b', routeVerdict({ generation: 1 })],
  ]),
};

describe('mergeCompilations', () => {
  test('keeps the newest verdict of each route', () => {
    const second: Compilation = {
      put: [],
      deleted: ['route/default/b'],
      hosts: new Map(),
      routes: new Map([['default/b', undefined]]),
    };

    const merged = mergeCompilations(FIRST, second);
    expect(merged.put).toEqual([pushedRoute('a')]);
    expect(merged.deleted).toEqual(['route/default/b']);
    expect([...merged.routes]).toEqual([
      ['default/a', FIRST.routes.get('default/a')],
      ['default/b', undefined],
    ]);
  });

  test('keeps the verdict on the settings unless there is a newer one', () => {
    const gone: Compilation = { ...NOTHING_COMPILED, settings: null };

    expect(mergeCompilations(gone, FIRST).settings).toBeNull();
    expect(mergeCompilations(FIRST, gone).settings).toBeNull();
    expect(mergeCompilations(FIRST, NOTHING_COMPILED)).not.toHaveProperty('settings');
  });
});
