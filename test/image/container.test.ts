import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { MACHINE_ARCHITECTURE } from '../../image/architectures.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { send } from '../support/http-client.ts';
import { BuiltImage, noImageReason } from '../support/image/built-image.ts';
import {
  noContainerReason,
  runContainer,
  startContainer,
} from '../support/image/start-container.ts';
import { writeInsecureKubeconfig } from '../support/kubernetes/write-insecure-kubeconfig.ts';
import { runTool } from '../support/run-tool.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const describeContainer = describeUnless(noImageReason ?? noContainerReason);

/** A gateway also listens on the port of a loopback route. */
const configurationOn = (port: number): object => ({
  identity_providers: {
    company: { issuer: 'http://localhost:1', client_id: 'gatehouse', client_secret: 'secret' },
  },
  routes: [
    {
      from: `http://invoices.localhost:${String(port)}`,
      to: 'http://localhost:1',
      policy: { allow: { or: [{ authenticated_user: true }] } },
    },
  ],
});
const DEMO_CLIENT = join(import.meta.dirname, '../../cli/demo/client/main.ts');
const ANY_PORT = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
/** Makes Node write to standard error which code it takes from its cache. */
const SHOW_CACHE = 'NODE_DEBUG_NATIVE=COMPILE_CACHE';

describeContainer('a read-only container of the image', () => {
  let image: BuiltImage;
  let directory: TemporaryDirectory;
  let run: readonly string[];

  beforeAll(async () => {
    image = await BuiltImage.build(MACHINE_ARCHITECTURE);
    directory = await TemporaryDirectory.create();
    await chmod(directory.path, 0o755);
    const config = await directory.write(
      'gatehouse.yaml',
      JSON.stringify(configurationOn(await freePort())),
    );
    run = ['run', '--config', config, '--dev-allow-loopback', ...ANY_PORT];
  });

  afterAll(async () => {
    await image[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  test.each([
    ['--version', /^gatehouse \d+\.\d+\.\d+\n$/],
    ['--help', /^Usage: gatehouse COMMAND/],
  ])('prints what %s asks for', async (flag, expected) => {
    expect(await runContainer({ image, directory, args: [flag] })).toMatch(expected);
  });

  test('has the command under the name by which kubectl finds plugins', async () => {
    const entrypoint = ['kubectl-gatehouse'];
    const printed = await runContainer({ image, directory, entrypoint, args: ['--help'] });
    expect(printed).toMatch(/^Usage: kubectl gatehouse COMMAND/);
  });

  test('serves routes as its first process, and ends by SIGTERM', async () => {
    await using container = await startContainer({ image, directory, args: run });
    const { admin } = await container.listening();
    expect((await send(`http://${String(admin)}/readyz`)).status).toBe(200);
    expect((await send(`http://${String(admin)}/metrics`)).body).toContain('gatehouse_');
    container.signal('SIGTERM');
    expect(await container.exited()).toBe(0);
    expect(container.stderr).toBe('');
  });

  test('ends by SIGTERM while it runs a command that does not wait for signals', async () => {
    await using apiServer = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(apiServer, 'listening');
    const { port } = apiServer.address() as AddressInfo;
    const kubeconfig = join(directory.path, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, `http://127.0.0.1:${String(port)}`);
    const args = ['status', '--kubeconfig', kubeconfig];
    const asked = once(apiServer, 'connection');
    await using container = await startContainer({ image, directory, args });
    // The command waits for its answer.
    await asked;
    container.signal('SIGTERM');
    expect(await container.exited()).toBe(143);
  });

  test('names the lines of the repository in stack traces', async () => {
    const script = `
      import { readdirSync } from 'node:fs';
      const file = readdirSync('/app/cli').find((name) => /^validate-.*\\.js$/.test(name));
      const { runValidate } = await import('/app/cli/' + file);
      runValidate().catch((error) => console.log(error.stack));`;
    const entrypoint = ['node', '--enable-source-maps', '--input-type=module', '--eval'];
    const printed = await runContainer({ image, directory, entrypoint, args: [script] });
    expect(printed).toMatch(/at runValidate \(\/app\/cli\/commands\/validate\.ts:\d+:\d+\)/);
  });

  test('runs the demo, which MCP clients can use', async () => {
    const args = ['demo', '--port', '0', '--idp-port', '0', '--mcp-port', '0'];
    await using demo = await startContainer({ image, directory, args, writesToTmp: true });
    await eventually('the guide', () => demo.stderr.includes('Ctrl-C'));
    // The image has neither npm nor the client.
    expect(demo.stderr).not.toContain('npm run');
    const [, url = ''] = /Paste this URL into .*:\s+(http:\S+)/.exec(demo.stderr) ?? [];
    const client = await runTool(DEMO_CLIENT, ['--url', url, '--as', 'alice'], directory.path);
    expect(client.output).toContain('Refused by the gateway');
    expect(client.code).toBe(0);
  });

  test('compiles nothing at a start but the file that starts it', async () => {
    const environment = [SHOW_CACHE];
    await using container = await startContainer({ image, directory, args: run, environment });
    await container.listening();
    const compiled = [...container.stderr.matchAll(/code cache for \w+ (\S+) was (.*?),/g)];
    const accepted = compiled.filter(([, , result]) => result === 'accepted');
    const others = compiled.filter((each) => !accepted.includes(each)).map(([, file]) => file);
    expect(accepted.length).toBeGreaterThan(20);
    expect(others).toEqual([expect.stringMatching(/^file:\/\/\/app\/cli\/main-\w+\.js$/)]);
  });
});
