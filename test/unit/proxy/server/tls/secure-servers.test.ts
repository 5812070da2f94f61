import { generateKeyPairSync } from 'node:crypto';

import { expect, test } from '@jest/globals';

import { SecureServers } from '../../../../../proxy/server/tls/secure-servers.ts';
import type { CompiledCertificate } from '../../../../../shared/snapshot/snapshot.ts';
import { aCompiledCertificate } from '../../../../support/compiled-resources.ts';
import { createThrowawayAuthority } from '../../../../support/throwaway-authority.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Makes the servers, with a clock that the test moves. */
function openServers(): { readonly servers: SecureServers; readonly clock: { ms: number } } {
  const clock = { ms: 0 };
  const servers = new SecureServers({
    protocols: ['http/1.1'],
    onSecure: (socket) => socket.destroy(),
    onFailure: () => undefined,
    now: () => clock.ms,
  });
  return { servers, clock };
}

/** A certificate with an RSA key; the others have a key on a curve. */
function anRsaCertificate(): CompiledCertificate {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { cert, key } = createThrowawayAuthority().issue(['app.example.com'], { keys });
  return { ...aCompiledCertificate(), certificate: cert, privateKey: key };
}

test('hosts that share their first certificate keep a server each, in whatever order they are asked for', () => {
  const { servers } = openServers();
  const shared = aCompiledCertificate();
  const own = anRsaCertificate();
  const ofBoth = servers.serverFor([shared, own]);
  const ofShared = servers.serverFor([shared]);

  expect(ofShared).not.toBe(ofBoth);
  expect(servers.serverFor([shared, own])).toBe(ofBoth);
  expect(servers.serverFor([shared])).toBe(ofShared);
});

test('a certificate that was replaced gets another server, though its name is the same', () => {
  const { servers } = openServers();
  const before = aCompiledCertificate();
  const server = servers.serverFor([before]);

  expect(servers.serverFor([{ ...before }])).not.toBe(server);
});

test('a server, and with it its keys of session tickets, is made again after an hour', () => {
  const { servers, clock } = openServers();
  const certificate = aCompiledCertificate();
  const server = servers.serverFor([certificate]);
  clock.ms = HOUR_MS - 1;
  expect(servers.serverFor([certificate])).toBe(server);
  clock.ms = HOUR_MS;

  expect(servers.serverFor([certificate])).not.toBe(server);
});
