import { describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { hasMessage, isAboutController, proxyProcesses } from '../support/proxy-processes.ts';
import { openSilentAddress } from '../support/silent-address.ts';

const { startProxy, cacheDirectory } = proxyProcesses();

describe('the end of a proxy', () => {
  test('is immediate before the proxy serves a snapshot', async () => {
    const proxy = startProxy();
    await proxy.logged(hasMessage('started'));
    proxy.signal('SIGTERM');

    expect(await proxy.exited()).toBe(0);
    expect(proxy.stderr).toBe('');
    expect(proxy.log.at(-1)).toMatchObject({ message: 'stopped' });
  });

  test('follows a start that a signal interrupts', async () => {
    const proxy = startProxy();
    // The start waits for Redis from here on.
    await proxy.logged(hasMessage('sealing keys'));
    proxy.signal('SIGTERM');

    expect(await proxy.exited()).toBe(0);
    expect(proxy.stderr).toBe('');
  });

  test('waits for the drain delay, or for a second signal', async () => {
    const proxy = startProxy({ 'cache-dir': await cacheDirectory() });
    await proxy.listening();
    proxy.signal('SIGTERM');
    await proxy.logged(hasMessage('stopping'));
    proxy.signal('SIGTERM');

    expect(await proxy.exited()).toBe(1);
    expect(proxy.log.map(({ message }) => message)).not.toContain('stopped');
  });

  test('leaves nothing open after the drain', async () => {
    const proxy = startProxy({ 'cache-dir': await cacheDirectory(), 'drain-delay': '100ms' });
    await proxy.listening();
    proxy.signal('SIGINT');

    expect(await proxy.exited()).toBe(0);
    expect(proxy.stderr).toBe('');
  });

  test('does not wait for machines that are gone', async () => {
    await using gone = await openSilentAddress();
    const proxy = startProxy({
      controller: `https://${gone.address}`,
      'redis-url': `redis://${gone.address}`,
      'cache-dir': await cacheDirectory(),
      'drain-delay': '100ms',
    });
    await proxy.logged(isAboutController);
    await proxy.listening();
    let code: number | null | undefined;
    void proxy.exited().then((exitCode) => (code = exitCode));
    proxy.signal('SIGTERM');
    await eventually('the process ends', () => code !== undefined);

    expect(code).toBe(0);
    expect(proxy.log.at(-1)).toMatchObject({ message: 'stopped' });
  });
});
