import { describe, expect, it } from '@jest/globals';

import type { Service } from '../../../../controller/kubernetes/objects.ts';
import { eventually } from '../../../support/eventually.ts';
import { answerStatus } from '../../../support/kubernetes/scripted-api-server.ts';
import {
  NAMESPACES,
  NOTHING,
  PROXY_SERVICES,
  SECRETS,
  SETTINGS,
  batches,
  begin,
  expectBatch,
  keysOf,
  logger,
  putRoute,
  putSecret,
  requestsFor,
  server,
} from './cluster-watch-world.ts';

const ISSUER_PATHS: readonly string[] = ['/.well-known/openid-configuration', '/openid/v1/jwks'];
const CURRENT = new Map([['current', Buffer.from('value')]]);

describe('references that a cluster watch subscribes to', () => {
  it('hold changes back until a Secret has loaded, or is known to be missing', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectBatch(1);
    let isHeld = true;
    server.intercept = ({ path, query }, response) => {
      const isAbsent = query.get('fieldSelector') === 'metadata.name=absent';
      if (!isHeld || path !== SECRETS || !isAbsent) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys', 'gatehouse/absent']) };
    expect(it.subscribe(wanted)).toBe(true);
    putRoute('files');
    await eventually('it tried twice', () => requestsFor('secrets') >= 4);
    expect(batches).toHaveLength(1);
    isHeld = false;
    const { secrets, routes } = await expectBatch(2, 7);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect(keysOf(secrets)).toEqual(['gatehouse/absent', 'gatehouse/keys']);
    expect(secrets?.get('gatehouse/absent')).toBeUndefined();
    expect(secrets?.get('gatehouse/keys')).toEqual(CURRENT);
    expect(it.subscribe(wanted)).toBe(false);
    putSecret('absent', { current: 'there now' });
    expect(keysOf((await expectBatch(3, 7)).secrets)).toEqual(['gatehouse/absent']);
  });

  it('count a Secret that is forbidden as missing until it can be read', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectBatch(1);
    let isForbidden = true;
    server.intercept = ({ path }, response) => {
      if (!isForbidden || path !== SECRETS) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys']) };
    expect(it.subscribe(wanted)).toBe(true);
    expect([...((await expectBatch(2)).secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    expect(it.subscribe(wanted)).toBe(false);
    putRoute('files');
    expect(keysOf((await expectBatch(3)).routes)).toEqual(['apps/files']);
    const secretHealth = () => it.health.find(({ resource }) => resource === 'secrets');
    await eventually('health reports it', () => secretHealth()?.problem === 'forbidden');
    expect(logger.messages('warn')).toContain('kubernetes watch failed');
    isForbidden = false;
    const { secrets } = await expectBatch(4, 6);
    expect(secrets?.get('gatehouse/keys')).toEqual(CURRENT);
  });

  it('count the issuer of the cluster as unknown while it is forbidden', async () => {
    const it = begin();
    await expectBatch(1);
    server.intercept = ({ path }, response) => {
      if (!ISSUER_PATHS.includes(path)) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    expect(it.subscribe({ ...NOTHING, clusterIssuer: true })).toBe(true);
    const { clusterIssuer } = await expectBatch(2);
    expect(clusterIssuer?.known).toBeUndefined();
    expect(clusterIssuer?.failure).toMatch(/^GET \/(?:openid|\.well-known)\//);
    expect(it.subscribe({ ...NOTHING, clusterIssuer: true })).toBe(false);
    expect(it.subscribe(NOTHING)).toBe(false);
    expect((await expectBatch(3)).clusterIssuer).toEqual({});
  });

  it('hold changes back for the issuer of the cluster only as long as the patience lasts', async () => {
    const it = begin({ secretPatienceMs: 100 });
    await expectBatch(1);
    server.intercept = ({ path }) => ISSUER_PATHS.includes(path);
    expect(it.subscribe({ ...NOTHING, clusterIssuer: true })).toBe(true);
    putRoute('files');
    const { clusterIssuer, routes } = await expectBatch(2);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect(clusterIssuer).toBeUndefined();
  });

  it('hold changes back for a Secret only as long as the patience lasts', async () => {
    const it = begin({ secretPatienceMs: 100 });
    await expectBatch(1);
    server.intercept = ({ path }, response) => {
      if (path !== SECRETS) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys']) };
    expect(it.subscribe(wanted)).toBe(true);
    putRoute('files');
    const { routes, secrets } = await expectBatch(2);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect([...(secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    expect(it.subscribe(wanted)).toBe(false);
  });

  it('do not hold back a change of the settings', async () => {
    const it = begin();
    await expectBatch(1);
    server.intercept = ({ path }, response) => {
      if (path !== NAMESPACES) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(true);
    putRoute('files');
    await eventually('it tried twice', () => requestsFor('namespaces') >= 2);
    expect(batches).toHaveLength(1);
    server.put(SETTINGS, { metadata: { name: 'gatehouse', namespace: 'gatehouse' } });
    expect(keysOf((await expectBatch(2)).routes)).toEqual(['apps/files']);
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(true);
    it.subscribe(NOTHING);
    await expectBatch(3);
    expect(it.subscribe(NOTHING)).toBe(false);
  });

  it('report a Secret as gone, and stop watching it, when nothing refers to it', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectBatch(1);
    it.subscribe({ ...NOTHING, secretNames: new Set(['gatehouse/keys']) });
    await expectBatch(2, 6);
    expect(it.subscribe(NOTHING)).toBe(false);
    const { secrets } = await expectBatch(3);
    expect([...(secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    await eventually('the watch has ended', () => server.watchCount === 5);
    expect(it.subscribe({ ...NOTHING, secretNames: new Set(['gatehouse/keys']) })).toBe(true);
    const again = await expectBatch(4, 6);
    expect(again.secrets?.get('gatehouse/keys')).toEqual(CURRENT);
  });

  it('watch namespaces only when their labels matter', async () => {
    server.put(NAMESPACES, { metadata: { name: 'apps', labels: { team: 'a' } } });
    const it = begin();
    await expectBatch(1);
    expect(requestsFor('namespaces')).toBe(0);
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(true);
    const { namespaces } = await expectBatch(2, 6);
    expect([...(namespaces ?? [])]).toEqual([['apps', { team: 'a' }]]);
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(false);
    server.put(NAMESPACES, { metadata: { name: 'apps', labels: { team: 'b' } } });
    expect([...((await expectBatch(3, 6)).namespaces ?? [])]).toEqual([['apps', { team: 'b' }]]);
    it.subscribe(NOTHING);
    expect([...((await expectBatch(4)).namespaces ?? [])]).toEqual([['apps', undefined]]);
  });
});

describe('the Service in front of the proxies', () => {
  it('is reported separately, with its addresses, and holds nothing back', async () => {
    const seen: (Service | undefined)[] = [];
    let isBroken = true;
    server.intercept = ({ path }, response) => {
      if (!isBroken || path !== PROXY_SERVICES) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    begin({
      proxyService: { name: 'proxy' },
      onProxyServiceChange: (service) => void seen.push(service),
    });
    await expectBatch(1);
    isBroken = false;
    const service: Service = {
      metadata: { name: 'proxy', namespace: 'gatehouse' },
      spec: { type: 'LoadBalancer', ports: [{ port: 443 }] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    };
    server.put(PROXY_SERVICES, { ...service });
    await eventually('it is reported', () => seen.length === 1);
    expect(seen).toEqual([service]);
    server.remove(PROXY_SERVICES, 'proxy');
    await eventually('it is gone', () => seen.length === 2);
    expect(seen[1]).toBeUndefined();
  });
});
