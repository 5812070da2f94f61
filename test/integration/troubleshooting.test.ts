import { execFile } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { membersOf, send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { toolCall } from '../support/policy-world.ts';
import { startRefusingWorld } from '../support/refused-requests.ts';
import { callMcp } from '../support/signed-in-client.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const DOCUMENT = readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8');

const run = promisify(execFile);

const world = openForAll(startRefusingWorld);

test('the commands for a denied tool find the decision', async () => {
  const { origin, client } = world();
  const answer = await callMcp(origin('mcp'), client.accessToken, toolCall('delete'));
  const { data } = membersOf(answer)['error'] as { data: { request_id: string; reason: string } };
  expect(data.reason).toBe('mcp-tool-unauthorized');

  expect(await follow('A tool was denied', { ID: data.request_id })).toMatchObject({
    message: 'authorize check',
    allow: false,
    deny: true,
    'deny-why-true': ['mcp-tool-unauthorized'],
  });
});

test('the commands for a page that does not load find what failed, and where', async () => {
  const URL = `${world().origin('away')}/`;
  expect((await send(URL)).status).toBe(502);

  expect(await follow('A page does not load', { URL })).toMatchObject({
    reason: 'upstream-unreachable',
    route: 'default/away',
    error: expect.stringContaining('127.0.0.1:1'),
  });
});

test('the commands for a client that is not let in again find why', async () => {
  const { server, clientId } = world().client;
  const variables = {
    TOKEN_ENDPOINT: server.tokenEndpoint,
    CLIENT_ID: clientId,
    REFRESH_TOKEN: 'gtr_not-one-of-ours',
  };

  expect(await follow('A client has to sign in again and again', variables)).toMatchObject({
    message: 'request refused',
    error: expect.stringContaining('InvalidGrantError'),
  });
});

/**
 * Runs the commands below a heading of the document, beside the log, and returns the last line that they print.
 * They run again until they find something: the log is written while they run.
 */
async function follow(
  heading: string,
  variables: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const [, section = ''] = DOCUMENT.split(`### ${heading}\n`);
  const [, commands] = /```sh\n(.*?)```/s.exec(section) ?? [];
  if (commands === undefined) throw new Error(`no commands below "${heading}"`);
  await using directory = await TemporaryDirectory.create();
  const { PATH = '' } = process.env;
  const log = join(directory.path, 'gatehouse.log');
  let copied = 0;
  const copyLog = (): void => {
    const lines = world().users.gateway.logs();
    for (const line of lines.slice(copied)) appendFileSync(log, `${JSON.stringify(line)}\n`);
    copied = lines.length;
  };
  copyLog();
  const copying = setInterval(copyLog, 1);
  let found = '';
  try {
    await eventually(`the commands of "${heading}" find a line`, async () => {
      const env = { PATH, ...variables };
      // `grep` fails while it finds nothing.
      const running = run('bash', ['-c', commands], { cwd: directory.path, env });
      found = await running.then(({ stdout }) => stdout).catch(() => '');
      return found !== '';
    });
  } finally {
    clearInterval(copying);
  }
  const [line = ''] = found.trim().split('\n').slice(-1);
  return JSON.parse(line) as Record<string, unknown>;
}
