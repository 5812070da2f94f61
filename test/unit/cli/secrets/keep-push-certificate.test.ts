import { X509Certificate } from 'node:crypto';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { keepPushCertificate } from '../../../../cli/secrets/keep-push-certificate.ts';
import { storedData } from '../../../../cli/secrets/stored-secret.ts';
import { CONFIG_MAPS, SECRETS } from '../../../../controller/kubernetes/resource-types.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';

const SECRET = { namespace: 'gatehouse', name: 'gatehouse-push' };
const AUTHORITY = { namespace: 'gatehouse-proxy', name: 'gatehouse-push-ca' };
const HOST = 'gatehouse-controller.gatehouse.svc';
const START = new Date('2026-11-23T10:00:00Z');
const DAY = 24 * 60 * 60 * 1000;

describe('keepPushCertificate', () => {
  let api: MemoryApi;
  beforeEach(() => {
    api = new MemoryApi();
  });

  const keep = (
    afterDays = 0,
    wish: { readonly rotation?: string; readonly hosts?: readonly string[] } = {},
  ): Promise<readonly string[]> =>
    keepPushCertificate(
      api,
      { secret: SECRET, authority: AUTHORITY, hosts: [HOST], rotation: undefined, ...wish },
      new Date(START.getTime() + afterDays * DAY),
    );
  const served = (): X509Certificate => {
    const data = storedData(api.read(SECRETS, SECRET));
    return new X509Certificate(Buffer.from(data.get('tls.crt') ?? '', 'base64'));
  };
  const trusted = (): readonly string[] =>
    (storedData(api.read(CONFIG_MAPS, AUTHORITY)).get('ca.crt') ?? '')
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem).serialNumber);

  test('makes a certificate, which proxies trust', async () => {
    await keep();

    expect(served().checkHost(HOST)).toBe(HOST);
    expect(trusted()).toEqual([served().serialNumber]);
    expect(api.read(SECRETS, SECRET)).toMatchObject({ type: 'kubernetes.io/tls' });
  });

  test('makes no second one', async () => {
    await keep();
    const before = served().serialNumber;

    expect(await keep(100)).toEqual([]);
    expect(served().serialNumber).toBe(before);
  });

  test('makes a new one when half of the time is over, long before it expires', async () => {
    await keep();
    const first = served();

    await keep(550);

    expect(served().serialNumber).not.toBe(first.serialNumber);
    expect(first.validToDate.getTime() - (START.getTime() + 550 * DAY)).toBeGreaterThan(500 * DAY);
  });

  test('lets proxies trust the one before too, and for an hour only', async () => {
    await keep();
    const first = served().serialNumber;
    await keep(1, { rotation: 'a' });
    const second = served().serialNumber;
    const both = [second, first];

    expect(trusted()).toEqual(both);
    await keep(1 + 1 / 48, { rotation: 'a' });
    expect(trusted()).toEqual(both);
    await keep(2, { rotation: 'a' });
    expect(trusted()).toEqual([second]);
  });

  test('tells proxies of a new one before controllers have it', async () => {
    await keep();
    await keep(1, { rotation: 'a' });

    const writes = api.requests.filter(({ verb }) => verb !== 'get');
    expect(writes.map(({ plural }) => plural)).toEqual([
      'configmaps',
      'secrets',
      'configmaps',
      'secrets',
    ]);
  });

  test('makes one new one for each text of a rotation', async () => {
    await keep();
    await keep(1, { rotation: 'a' });
    const second = served().serialNumber;
    await keep(2, { rotation: 'a' });
    expect(served().serialNumber).toBe(second);

    await keep(3, { rotation: 'b' });
    expect(served().serialNumber).not.toBe(second);
  });

  test('makes a new one for another name of the Service', async () => {
    await keep();
    await keep(1, { hosts: ['controller.other.svc'] });

    expect(served().checkHost('controller.other.svc')).toBeDefined();
  });

  test('leaves a Secret alone that somebody else made', async () => {
    const { namespace, name } = SECRET;
    await api.create(SECRETS, namespace, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      data: {},
    });

    expect(await keep()).toEqual(['left it as it is: somebody else made it']);
    expect(storedData(api.read(SECRETS, SECRET)).size).toBe(0);
  });

  test('fails if somebody else writes at the same time', async () => {
    await keep();
    api.before = ({ verb, plural }) => {
      if (verb !== 'replace' || plural !== 'secrets') return;
      api.before = () => undefined;
      api.edit(SECRETS, SECRET, (object) => object);
    };

    await expect(keep(1, { rotation: 'a' })).rejects.toThrow('was changed meanwhile');
  });
});
