import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { HostRecordKeeper } from '../../../../controller/holds/host-record-keeper.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../../../controller/kubernetes/objects.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../../controller/kubernetes/resource-types.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../../support/redis/recording-logger.ts';

const SECOND = 1000;
const PLACE = { namespace: 'gatehouse', name: 'gatehouse-hosts' };
const APP = 'app.example.com';
const HELD = { namespace: 'a', vacantSince: Date.parse('2026-11-22T12:00:00Z') };
const STORED = '{"namespace":"a","vacantSince":"2026-11-22T12:00:00.000Z"}';

let api: MemoryApi;
let clock: ManualClock;
let logger: RecordingLogger;
let term: AbortController;
let holders: ReadonlySet<string>;
let released: string[];
let ended: string[];

beforeEach(() => {
  api = new MemoryApi();
  clock = new ManualClock();
  logger = createRecordingLogger();
  term = new AbortController();
  holders = new Set();
  released = [];
  ended = [];
});
afterEach(() => term.abort());

function keeper(): HostRecordKeeper {
  return new HostRecordKeeper({
    ...{ api, clock, logger, place: PLACE },
    holders: () => holders,
    onReleased: (hosts) => void released.push(...hosts),
    onEnded: (namespaces) => void ended.push(...namespaces),
  });
}

/** A keeper whose term has begun, and which wrote one held host. */
async function started(): Promise<HostRecordKeeper> {
  const one = keeper();
  one.change(new Map([[APP, HELD]]));
  await one.load(term.signal);
  void one.keep(term.signal);
  await clock.advance(2 * SECOND);
  return one;
}

function stored(): unknown {
  return api.read(CONFIG_MAPS, PLACE)?.['data'];
}

/** Changes the data as `kubectl patch` does. */
function edit(data: Readonly<Record<string, string>>): void {
  api.edit(CONFIG_MAPS, PLACE, (object): KubernetesObject => ({ ...object, data }));
}

function refuse(code: number): void {
  api.before = () => {
    throw new KubernetesApiError({ code, reason: 'Refused' }, 'refused');
  };
}

describe('the record of held hosts', () => {
  test('is written once a term has begun, and read by the next leader', async () => {
    const one = keeper();
    one.change(new Map([[APP, HELD]]));
    await clock.advance(60 * SECOND);
    expect(api.requests).toEqual([]);
    await one.load(term.signal);
    void one.keep(term.signal);
    await clock.advance(SECOND);
    expect(stored()).toEqual({ [APP]: STORED });
    expect(await keeper().load(new AbortController().signal)).toEqual(new Map([[APP, HELD]]));
  });

  // Attack: the ConfigMap is deleted, and the next controller leads before it is written again.
  test('is what a new leader holds itself if it does not exist', async () => {
    const one = keeper();
    one.change(new Map([[APP, HELD]]));
    expect(await one.load(term.signal)).toEqual(new Map([[APP, HELD]]));
  });

  test('is written again until that succeeds, and the failure is logged once', async () => {
    const one = await started();
    refuse(500);
    one.change(new Map([['b.example', { namespace: 'b' }]]));
    await clock.advance(60 * SECOND);
    expect(stored()).toEqual({ [APP]: STORED });
    api.before = () => undefined;
    await clock.advance(60 * SECOND);
    expect(stored()).toEqual({ [APP]: STORED, 'b.example': '{"namespace":"b"}' });
    expect(logger.messages('error')).toEqual([
      'cannot keep the record of held hosts, trying again',
    ]);
    expect(logger.messages('info')).toEqual(['the record of held hosts is kept again']);
  });

  test('holds a new leader back until it can be read', async () => {
    await started();
    refuse(403);
    let found: unknown;
    void keeper()
      .load(new AbortController().signal)
      .then((record) => (found = record));
    await clock.advance(90 * SECOND);
    expect(found).toBeUndefined();
    api.before = () => undefined;
    await clock.advance(60 * SECOND);
    expect(found).toEqual(new Map([[APP, HELD]]));
  });

  test('releases a host that an operator removes from it', async () => {
    const one = await started();
    one.change(new Map([['b.example', { namespace: 'b' }]]));
    await clock.advance(5 * SECOND);
    edit({ 'b.example': '{"namespace":"b"}' });
    await clock.advance(60 * SECOND);
    expect(released).toEqual([APP]);
  });

  test('releases it too if a change of our own comes in between', async () => {
    const one = await started();
    one.change(new Map([['b.example', { namespace: 'b' }]]));
    await clock.advance(5 * SECOND);
    let isEdited = false;
    api.before = ({ verb }) => {
      if (verb !== 'replace' || isEdited) return;
      isEdited = true;
      edit({ 'b.example': '{"namespace":"b"}' });
    };
    one.change(new Map([['c.example', { namespace: 'c' }]]));
    await clock.advance(10 * SECOND);
    expect(released).toEqual([APP]);
  });

  test('releases nothing if it is deleted as a whole, and is written again', async () => {
    await started();
    api.remove(CONFIG_MAPS, PLACE);
    await clock.advance(60 * SECOND);
    expect(released).toEqual([]);
    expect(stored()).toEqual({ [APP]: STORED });
  });

  test('releases nothing that this process removed itself', async () => {
    const one = await started();
    one.change(new Map([[APP, undefined]]));
    await clock.advance(60 * SECOND);
    expect({ released, stored: stored() }).toEqual({ released: [], stored: {} });
  });

  test('costs no request while nothing was ever held', async () => {
    const one = keeper();
    await one.load(term.signal);
    void one.keep(term.signal);
    await clock.advance(300 * SECOND);
    expect(api.requests).toHaveLength(1);
  });

  test('is not written after the term', async () => {
    const one = await started();
    term.abort();
    one.change(new Map([['b.example', { namespace: 'b' }]]));
    await clock.advance(60 * SECOND);
    expect(stored()).toEqual({ [APP]: STORED });
  });
});

describe('a namespace that hosts are held for', () => {
  test('is reported when it does not exist any longer', async () => {
    await api.create(NAMESPACES, undefined, { metadata: { name: 'a' } });
    holders = new Set(['a']);
    await started();
    await clock.advance(60 * SECOND);
    expect(ended).toEqual([]);
    api.remove(NAMESPACES, { name: 'a' });
    await clock.advance(60 * SECOND);
    expect(ended[0]).toBe('a');
  });

  test('is found among many, a few of which are looked up at a time', async () => {
    holders = new Set(Array.from({ length: 50 }, (_, index) => `n${String(index)}`));
    await started();
    await clock.advance(120 * SECOND);
    expect(new Set(ended)).toEqual(holders);
  });

  test('keeps its hosts while it cannot be looked up', async () => {
    holders = new Set(['a']);
    api.before = ({ plural }) => {
      if (plural !== 'namespaces') return;
      throw new KubernetesApiError({ code: 403, reason: 'Forbidden' }, 'forbidden');
    };
    await started();
    await clock.advance(120 * SECOND);
    expect({ ended, stored: stored() }).toEqual({ ended: [], stored: { [APP]: STORED } });
  });
});
