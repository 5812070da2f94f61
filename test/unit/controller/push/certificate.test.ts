import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import {
  startPushServer,
  type PushServer,
} from '../../../../controller/push/server/push-server.ts';
import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld, writeCertificate } from '../../../support/push/push-world.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';

const DAY = 24 * 60 * 60 * 1000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-certificate-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Starts a push server with the certificate in the directory, which it polls often. */
function startServer(
  logger: Logger = createRecordingLogger(),
  metrics = new ReadableControllerMetrics(),
): Promise<PushServer> {
  return startPushServer({
    listen: { host: '127.0.0.1', port: 0 },
    tlsDirectory: directory,
    authenticate: () => Promise.resolve({ kind: 'authenticated' }),
    leaderAddress: () => undefined,
    logger,
    metrics: metrics.push,
    timing: { certificatePollMs: 20 },
  });
}

/** The serial number of the certificate that a port presents. */
async function serialAt(port: number, ca: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] });
  socket.once('secureConnect', () => resolve(socket.getPeerCertificate().serialNumber));
  socket.once('error', reject);
  const serial = await promise;
  socket.destroy();
  return serial;
}

describe('the certificate of the push listener', () => {
  it('is logged and measured at the start and when it changes', async () => {
    const authority = createThrowawayAuthority();
    const issue = (days: number) =>
      authority.issue(['127.0.0.1'], { validTo: new Date(Date.now() + days * DAY) });
    await writeCertificate(directory, issue(-1));
    const logger = createRecordingLogger();
    const metrics = new ReadableControllerMetrics();
    const server = await startServer(logger, metrics);
    await using closing = new AsyncDisposableStack();
    closing.defer(() => server.close());
    expect(logger.messages('warn')).toEqual(['certificate of the push listener has expired']);
    await writeCertificate(directory, issue(6));
    await eventually('the next', () => logger.messages('info').length === 1);
    await writeCertificate(directory, issue(8));
    await eventually('a good one', () => logger.messages('info').length === 2);

    expect(logger.messages('warn')).toEqual([
      'certificate of the push listener has expired',
      'certificate of the push listener expires soon',
    ]);
    const validTo = logger.records.find(({ level }) => level === 'warn')?.fields['validTo'];
    expect(Date.parse(String(validTo))).toBeLessThan(Date.now());
    const expiry = metrics.value('push_certificate_expiry_timestamp_seconds') ?? 0;
    expect(Math.abs(expiry * 1000 - (Date.now() + 8 * DAY))).toBeLessThan(DAY);
  });

  it('is named in the error when it cannot be read', async () => {
    const file = join(directory, 'tls.crt');
    await expect(startServer()).rejects.toThrow(`cannot read ${file}: ENOENT`);
  });

  it('is replaced when the mounted Secret is', async () => {
    const authority = createThrowawayAuthority();
    await mountSecret('first', authority.issue(['127.0.0.1']));
    const logger = createRecordingLogger();
    const server = await startServer(logger);
    const { port } = server.address;
    const before = await serialAt(port, authority.ca);
    await mountSecret('second', authority.issue(['127.0.0.1']));
    await eventually(
      'a changed certificate',
      async () => (await serialAt(port, authority.ca)) !== before,
    );
    expect(logger.messages('info')).toEqual(['certificate of the push listener replaced']);
    await server.close();
  });

  it('stays in use when the files are not a pair, which is logged once', async () => {
    await using world = await startPushWorld({ timing: { certificatePollMs: 20 } });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const { cert } = world.authority.issue(['127.0.0.1']);
    const { key } = world.authority.issue(['127.0.0.1']);
    await writeCertificate(world.tlsDirectory, { cert, key });
    await eventually('an error', () => world.logger.messages('error').length > 0);
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => proxy.serving !== undefined);
    await writeCertificate(world.tlsDirectory, world.authority.issue(['127.0.0.1']));
    await eventually('a good one', () =>
      world.logger.messages('info').includes('certificate of the push listener replaced'),
    );
    expect(proxy.isClosed).toBe(false);
    expect(world.logger.messages('error')).toEqual([
      'certificate of the push listener is unusable, keeping the last one',
    ]);
  });

  it.each([
    ['is missing', undefined, /ENOENT/],
    ['is not one', { cert: 'x', key: 'y' }, /tls\.crt and tls\.key in .* are not a certificate/],
  ])('prevents the start if it %s', async (_, pair, message) => {
    if (pair !== undefined) await writeCertificate(directory, pair);
    const starting = startServer();
    await expect(starting).rejects.toThrow(message);
  });
});

/** Writes files as the kubelet does: a directory per version, and links to it through `..data`. */
async function mountSecret(
  version: string,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<void> {
  await mkdir(join(directory, version));
  await writeCertificate(join(directory, version), { cert, key });
  await symlink(version, join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  for (const name of ['tls.crt', 'tls.key']) {
    await symlink(join('..data', name), join(directory, name)).catch(() => undefined);
  }
  await writeFile(join(directory, version, 'done'), '');
}
