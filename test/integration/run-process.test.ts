import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { askPort } from '../support/ask-port.ts';
import { runGatehouse, startGatehouse, type GatehouseProcess } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { metricFaults } from '../support/metrics/metric-faults.ts';
import { scrapeProcess } from '../support/metrics/scrape.ts';
import { publicRoute } from '../support/plain-route.ts';
import { createThrowawayAuthority } from '../support/throwaway-authority.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import { startUpstream } from '../support/upstream.ts';

const ANY_ADDRESS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

describe('the process of gatehouse run', () => {
  test('reads its flags from the environment, and logs where it listens', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('one'));
    const port = await freePort();
    await directory.write('a.yaml', publicRoute('a', port, upstream.origin));
    await using gatehouse = startGatehouse(['run'], {
      GATEHOUSE_CONFIG: directory.path,
      GATEHOUSE_LISTEN: '127.0.0.1:0',
      GATEHOUSE_ADMIN_LISTEN: '127.0.0.1:0',
    });

    const { addresses } = await gatehouse.listening();

    expect(addresses).toContain(`127.0.0.1:${String(port)}`);
    expect(await askPort(port)).toBe('one');
  });

  test('serves its metrics at the admin port, without those of a cluster', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('one'));
    const port = await freePort();
    await directory.write('a.yaml', publicRoute('a', port, upstream.origin));
    await using gatehouse = startGatehouse(['run', '--config', directory.path, ...ANY_ADDRESS]);
    const { admin } = await gatehouse.listening();
    await askPort(port);

    const { metrics, value } = await scrapeProcess(admin);

    expect(metricFaults(metrics.values())).toEqual([]);
    expect(value('gatehouse_routes')).toBe(1);
    expect(value('gatehouse_requests_total', { method: 'GET', status: '2xx' })).toBe(1);
    const ofClusters = ['snapshot_epoch', 'controller_connected', 'redis_reachable'];
    expect(ofClusters.filter((name) => metrics.has(`gatehouse_${name}`))).toEqual([]);
  });

  test('logs at its start that a certificate expires soon', async () => {
    const validTo = new Date(Date.now() + 3 * 24 * 60 * 60 * 1000);
    const { cert, key } = createThrowawayAuthority().issue(['a.example.com'], { validTo });
    const tls = {
      cert_file: await directory.write('a.pem', cert),
      key_file: await directory.write('a.key', key),
    };
    const route = { from: 'https://a.example.com', to: 'http://127.0.0.1:1', tls };
    const open = { allow_public_unauthenticated_access: true };
    const file = await directory.write(
      'a.yaml',
      JSON.stringify({ routes: [{ ...route, ...open }] }),
    );
    const anyTlsAddress = ['--listen-tls', '127.0.0.1:0'];
    await using gatehouse = startGatehouse([
      ...['run', '--config', file, ...ANY_ADDRESS, ...anyTlsAddress],
    ]);

    const record = await gatehouse.logged(
      ({ message }) => message === 'a certificate expires soon',
    );

    expect(record).toMatchObject({ level: 'warn', secret: expect.stringContaining('-tls') });
    expect(String(record['validTo']).slice(0, 10)).toBe(validTo.toISOString().slice(0, 10));
  });

  test('exits with 1 when its port is in use, and names the port', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('one'));
    await directory.write('a.yaml', publicRoute('a', upstream.port, upstream.origin));

    const result = await runGatehouse(['run', '--config', directory.path, ...ANY_ADDRESS]);

    expect(result.stderr).toContain(
      `cannot listen on 127.0.0.1:${String(upstream.port)}: the port is in use; it is set by --listen, by \`from\` of a route`,
    );
    expect(result.code).toBe(1);
  });

  test('exits with 1 when the only Route needs a Service, and logs that', async () => {
    const reference = 'backendRefs: [{ name: app, port: 80 }]';
    await directory.write('a.yaml', publicRoute('a', 8080, '').replace('to: ', reference));

    const result = await runGatehouse(['run', '--config', directory.path, ...ANY_ADDRESS]);

    expect(result.stdout).toContain('Services exist only in Kubernetes');
    expect(result.stderr).toContain('there is no valid route in');
    expect(result.code).toBe(1);
  });

  test('lets requests finish after SIGTERM, and exits with 0', async () => {
    await using upstream = await startUpstream(() => undefined);
    const port = await freePort();
    await directory.write('a.yaml', publicRoute('a', port, upstream.origin));
    await using gatehouse = await run();
    const underWay = askPort(port);
    const { response } = await upstream.request(0);

    gatehouse.signal('SIGTERM');
    await gatehouse.logged(({ message }) => message === 'stopping');
    response.end('late');

    expect(await underWay).toBe('late');
    expect(await gatehouse.exited()).toBe(0);
  });

  test('exits at once after a second signal', async () => {
    await using upstream = await startUpstream(() => undefined);
    const port = await freePort();
    await directory.write('a.yaml', publicRoute('a', port, upstream.origin));
    await using gatehouse = await run();
    const underWay = askPort(port);
    await upstream.request(0);

    gatehouse.signal('SIGINT');
    await gatehouse.logged(({ message }) => message === 'stopping');
    gatehouse.signal('SIGINT');

    expect(await gatehouse.exited()).toBe(1);
    expect(await underWay).toBe('refused');
  });
});

describe('the process of gatehouse', () => {
  test('prints help to stdout, and exits with 0', async () => {
    expect(await runGatehouse(['--version'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^gatehouse 0\./),
      stderr: '',
    });
  });

  test('prints a usage error to stderr, and exits with 2', async () => {
    expect(await runGatehouse([])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('a command is missing'),
    });
  });
});

async function run(): Promise<GatehouseProcess> {
  const gatehouse = startGatehouse(['run', ...ANY_ADDRESS, '--config', directory.path]);
  await gatehouse.listening();
  return gatehouse;
}
