import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { fullFrames } from '../../../support/push/frames.ts';
import { startScriptedController } from '../../../support/push/scripted-controller.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';
import { connectedProxies, RESOURCES, FIRST } from '../../../support/push/connected-proxy.ts';

const { keep, connectProxy } = connectedProxies();

const NO_CERTIFICATE = '-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n';

describe('a server that answers', () => {
  test('must have a certificate for the host of the URL', async () => {
    const controller = keep(await startScriptedController({ hosts: ['other.example.com'] }));
    const { logger } = connectProxy(controller, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields).toMatchObject({
      problem: 'certificate',
      flag: '--controller',
      error: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    expect(controller.streams).toEqual([]);
  });

  test('must have a certificate that has not expired', async () => {
    const controller = keep(await startScriptedController({ validTo: new Date('2024-01-01') }));
    const { logger } = connectProxy(controller, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]).toMatchObject({
      message: 'cannot connect to the controller',
      fields: {
        problem: 'certificate',
        serving: false,
        error: expect.stringContaining('certificate has expired'),
      },
    });
    expect(controller.streams).toEqual([]);
  });

  test('must have a certificate from the authorities', async () => {
    const controller = keep(await startScriptedController());
    await writeFile(controller.ca, createThrowawayAuthority().ca);
    const { logger } = connectProxy(controller, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields).toMatchObject({
      problem: 'certificate',
      flag: '--controller-ca',
      file: controller.ca,
    });
    expect(logger.records[0]?.fields['error']).not.toContain('--use-system-ca');
    expect(controller.streams).toEqual([]);
  });

  test('can redirect the proxy to the leader', async () => {
    const leader = keep(await startScriptedController());
    const { authority } = leader;
    const other = keep(await startScriptedController({ authority }));
    const { applied } = connectProxy(other, other.port);
    const asked = await other.nextStream();
    asked.refuse(503, { 'x-leader': `127.0.0.1:${String(leader.port)}` });
    const stream = await leader.nextStream();
    stream.accept();
    stream.send(fullFrames(FIRST, RESOURCES));

    await stream.next('ack');
    expect(applied).toHaveLength(1);
    expect(leader.serverNames).toEqual(['localhost']);
    expect(stream.headers[':authority']).toBe(`localhost:${String(other.port)}`);
  });

  test('cannot redirect the proxy to a server with a different name', async () => {
    const authority = createThrowawayAuthority();
    const thief = keep(await startScriptedController({ authority, hosts: ['127.0.0.1'] }));
    const other = keep(await startScriptedController({ authority }));
    const { logger } = connectProxy(other, other.port);
    const asked = await other.nextStream();
    asked.refuse(503, { 'x-leader': `127.0.0.1:${String(thief.port)}` });
    // The proxy returns to the configured name.
    await other.nextStream();

    expect(logger.records[0]?.fields['error']).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(thief.streams).toEqual([]);
  });

  test('cannot redirect the proxy twice', async () => {
    const controller = keep(await startScriptedController());
    const { logger } = connectProxy(controller, controller.port);
    const redirect = { 'x-leader': `127.0.0.1:${String(controller.port)}` };
    (await controller.nextStream()).refuse(503, redirect);
    (await controller.nextStream()).refuse(503, redirect);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]?.fields['error']).toContain('redirected again');
  });

  test.each([
    '127.0.0.1',
    'https://127.0.0.1:1',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '[127.0.0.1:1',
    'a b:1',
    'user@127.0.0.1:1',
    '127.0.0.1:1/x',
  ])('names no leader with %s', async (named) => {
    const controller = keep(await startScriptedController());
    const { logger } = connectProxy(controller, controller.port);
    (await controller.nextStream()).refuse(503, { 'x-leader': named });
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]).toMatchObject({ fields: { status: 503 } });
  });

  test.each([
    [400, 'unknown-protocol', 'the controller refuses this proxy', 'refused'],
    [401, 'wrong-audience', 'the controller refuses this proxy', 'refused'],
    [403, 'not-a-proxy', 'the controller refuses this proxy', 'refused'],
    [503, 'token-review-unavailable', 'the controller refuses this proxy', 'refused'],
    [503, 'no-leader', 'no controller leads yet', 'no-leader'],
  ])('may refuse it with %i %s, which is logged once', async (status, reason, message, problem) => {
    const controller = keep(await startScriptedController());
    const { logger } = connectProxy(controller, controller.port);
    (await controller.nextStream()).refuse(status, { 'x-reason': reason });
    (await controller.nextStream()).refuse(status, { 'x-reason': reason });
    await controller.nextStream();

    expect(logger.records).toEqual([
      {
        level: 'warn',
        message,
        fields: {
          controller: `localhost:${String(controller.port)}`,
          address: `localhost:${String(controller.port)}`,
          serving: false,
          problem,
          status,
          reason,
        },
      },
    ]);
    expect(JSON.stringify(logger.records)).not.toContain('the-first-token');
  });

  test.each(['Bad', 'a b', 'x'.repeat(41), 'the-token-is-e30.e30'])(
    'is not repeated when it gives the reason %s',
    async (reason) => {
      const controller = keep(await startScriptedController());
      const { logger } = connectProxy(controller, controller.port);
      (await controller.nextStream()).refuse(403, { 'x-reason': reason });
      await eventually('it says so', () => logger.messages('warn').length > 0);

      expect(logger.records[0]?.fields).toMatchObject({ problem: 'refused', status: 403 });
      expect(JSON.stringify(logger.records)).not.toContain(reason);
    },
  );
});

describe('a file that cannot be used', () => {
  test.each([
    ['tokenFile', undefined, 'ENOENT'],
    ['tokenFile', 'no token at all', 'holds no token'],
    ['ca', undefined, 'ENOENT'],
    ['ca', 'nothing', 'holds no certificate'],
    ['ca', NO_CERTIFICATE, 'Error'],
  ] as const)('is named (%s, %j)', async (which, content, error) => {
    const controller = keep(await startScriptedController());
    const file = `${controller[which]}-of-nobody`;
    if (content !== undefined) await writeFile(file, content);
    const { ca, tokenFile } = controller;
    const { logger } = connectProxy({ ca, tokenFile, [which]: file }, controller.port);
    await eventually('it says so', () => logger.messages('warn').length > 0);

    expect(logger.records[0]).toMatchObject({
      message: 'cannot connect to the controller',
      fields: {
        ...(which === 'ca'
          ? { problem: 'ca-file', flag: '--controller-ca' }
          : { problem: 'token-file', flag: '--token-file' }),
        file,
        serving: false,
        error: expect.stringContaining(error),
      },
    });
    expect(controller.streams).toEqual([]);
  });
});
