import { afterEach, expect, jest, test } from '@jest/globals';

import { UnavailableError } from '../../../../../proxy/errors/unavailable-error.ts';
import { ProviderDiscovery } from '../../../../../proxy/identity-provider/provider-discovery.ts';
import { AuditLog } from '../../../../../proxy/telemetry/audit-log.ts';
import { IdentityProviders } from '../../../../../proxy/configuration/identity-providers.ts';
import { LiveSessions } from '../../../../../proxy/identity/session/live-sessions.ts';
import { createMemoryStores } from '../../../../../proxy/store/memory/memory-stores.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('stops waiting for another renewal after a time, however long the store takes', async () => {
  const now = Date.now;
  const stores = createMemoryStores(now);
  await stores.signIns.create(
    {
      id: 'sign-in-1',
      provider: { name: 'corp', issuer: 'https://idp.example.com', clientId: 'gatehouse' },
      identity: { provider: 'corp', subject: 'u-1', groups: [], claims: {} },
      sessionId: 'gone',
    },
    3600,
  );
  let passed = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => passed);
  const claimRenewal = jest.spyOn(stores.signIns, 'claimRenewal').mockImplementation(() => {
    passed += 5000;
    return Promise.resolve({ kind: 'busy' });
  });
  const discovery = new ProviderDiscovery({ devAllowLoopback: false, now });
  const logger = createRecordingLogger();
  const audit = new AuditLog(logger);
  const onRenewal = jest.fn();
  const renewal = new LiveSessions({ stores, discovery, audit, logger, onRenewal, now });
  const session = renewal.sessionOf('sign-in-1', {
    identityProviders: IdentityProviders.NONE,
    settings: compiledSettings(),
  });
  await expect(session).rejects.toThrow(UnavailableError);
  expect(claimRenewal).toHaveBeenCalledTimes(5);
  expect(onRenewal.mock.calls).toEqual([['failed']]);
});
