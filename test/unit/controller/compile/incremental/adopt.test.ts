import { describe, expect, test } from '@jest/globals';

import type { Changes } from '../../../../../controller/compile/compilation.ts';
import { IncrementalCompiler } from '../../../../../controller/compile/incremental-compiler.ts';
import type { StoredRoute } from '../../../../../controller/kubernetes/stored-resources.ts';
import {
  CompilerCluster,
  publicSpec,
  settingsSpec,
  withStatus,
} from '../../../../support/compiler-cluster.ts';

const A = 'https://a.example.com';
const B = 'https://b.example.com';
const BAD = publicSpec(A, { regex: '(?=a)' });

/** A cluster whose controller leads, and a follower that missed some changes. */
class Pair {
  readonly leader = new CompilerCluster();
  readonly follower: IncrementalCompiler = new IncrementalCompiler({
    devAllowLoopback: false,
    gatewayClassName: 'gatehouse',
  });

  constructor() {
    this.leader.putSettings(settingsSpec());
    this.follower.update({ settings: this.leader.storedSettings() ?? null });
  }

  show(...names: readonly string[]): void {
    this.follower.update({ routes: this.#routes(names) });
  }

  /** Makes the follower lead. Returns what it serves and changes. */
  adopt(...names: readonly string[]): ReturnType<IncrementalCompiler['adopt']> {
    const newest: Changes = {
      routes: this.#routes(names),
      settings: this.leader.storedSettings() ?? null,
    };
    return this.follower.adopt(newest);
  }

  #routes(names: readonly string[]): Map<string, StoredRoute | undefined> {
    return new Map(names.map((name) => [name, this.leader.stored(name)]));
  }
}

describe('a controller that begins to lead', () => {
  // Attack: a route that holds a host only by its fallback must not lose it by a change of leader.
  test('leaves a host to the route that serves it, even if its newest generation is rejected', () => {
    const pair = new Pair();
    pair.leader.put({ 'victim/app': publicSpec(B, { to: 'http://victim' }) });
    pair.show('victim/app');
    pair.leader.put({ 'victim/app': publicSpec(A, { to: 'http://victim' }) });
    pair.leader.put({ 'victim/app': BAD });
    pair.leader.put({ 'mallory/app': publicSpec(A, { to: 'http://mallory' }) });
    pair.show('victim/app', 'mallory/app');
    const { put, routes } = pair.adopt('victim/app', 'mallory/app');

    expect(put.map(({ value }) => value)).toMatchObject([{ upstream: 'http://victim' }]);
    expect(routes.get('victim/app')).toMatchObject({ served: { generation: 2 } });
  });

  // Attack: of two updates in one batch, a follower may not have seen the one that was accepted.
  test('serves the newest accepted generation, even if it never saw it', () => {
    const pair = new Pair();
    pair.leader.put({ 'x/app': publicSpec(A, { to: 'http://first' }) });
    pair.show('x/app');
    pair.leader.put({ 'x/app': publicSpec(A, { to: 'http://second' }) });
    pair.leader.put({ 'x/app': BAD });
    pair.follower.update({
      routes: new Map([['x/app', withStatus(pair.leader.stored('x/app'), {})]]),
    });
    const { put, routes } = pair.adopt('x/app');

    expect(put.map(({ value }) => value)).toMatchObject([{ upstream: 'http://second' }]);
    expect(routes.get('x/app')).toMatchObject({ isAccepted: false, served: { generation: 2 } });
  });

  test('keeps its own generation if that is newer', () => {
    const pair = new Pair();
    pair.leader.put({ 'x/app': publicSpec(A) });
    pair.leader.put({ 'x/app': BAD });
    const stored = pair.leader.stored('x/app');
    pair.leader.put({ 'x/app': publicSpec(A, { to: 'http://newer' }) });
    pair.show('x/app');
    pair.leader.put({ 'x/app': BAD });
    const { metadata } = pair.leader.stored('x/app');
    const stale = { ...stored, metadata };
    pair.follower.update({ routes: new Map([['x/app', stale]]) });

    expect(pair.follower.adopt({ routes: new Map([['x/app', stale]]) })).toMatchObject({
      put: [],
      deleted: [],
    });
  });

  test('keeps the owners of hosts of the previous leader', () => {
    const pair = new Pair();
    pair.leader.put({ 'y/old': publicSpec(B) });
    pair.leader.put({ 'x/app': publicSpec(A, { to: 'http://x' }) });
    pair.show('y/old');
    pair.leader.put({ 'y/old': publicSpec(A, { to: 'http://y' }) });
    pair.follower.update({
      routes: new Map([['y/old', withStatus(pair.leader.stored('y/old'), {})]]),
    });
    const before = pair.follower.adopt({});
    const { put } = pair.adopt('x/app', 'y/old');

    expect(before.put).toEqual([]);
    expect(put.map(({ value }) => value)).toMatchObject([
      { name: 'x/app', host: 'a.example.com', upstream: 'http://x' },
      { name: 'y/old', host: 'b.example.com' },
    ]);
  });

  test('serves newer settings that were accepted by the previous leader', () => {
    const pair = new Pair();
    pair.leader.putSettings(settingsSpec({ cookie: { expiration: '2h' } }));
    pair.leader.putSettings(settingsSpec({ cookie: { expiration: 'soon' } }));
    const { put, settings } = pair.adopt();

    expect(put.map(({ value }) => value)).toMatchObject([{ cookie: { expirationSeconds: 7200 } }]);
    expect(settings).toMatchObject({ isAccepted: false, served: { generation: 2 } });
  });

  test('changes nothing if it agrees with the previous leader', () => {
    const pair = new Pair();
    pair.leader.put({ 'x/app': publicSpec(A), 'y/app': publicSpec(B) });
    pair.show('x/app', 'y/app');

    expect(pair.adopt('x/app', 'y/app')).toEqual({
      put: [],
      deleted: [],
      routes: new Map(),
      hosts: new Map(),
    });
  });
});
