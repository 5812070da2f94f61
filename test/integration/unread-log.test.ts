import { expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { send } from '../support/http-client.ts';
import { publicRoute } from '../support/plain-route.ts';
import { startUnreadGatehouse } from '../support/stopped-reader.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import { startUpstream } from '../support/upstream.ts';

const DROPPED = /^gatehouse_log_lines_dropped_total\{.*rank="ordinary".*\} ([1-9]\d*)$/m;

test('a gateway whose log nobody reads serves on, and says what it dropped', async () => {
  await using upstream = await startUpstream((_message, response) => response.end('served'));
  await using directory = await TemporaryDirectory.create();
  const [port, adminPort] = [await freePort(), await freePort()];
  await directory.write('a.yaml', publicRoute('a', port, upstream.origin));
  using gatehouse = startUnreadGatehouse([
    ...['run', '--config', directory.path, '--access-log'],
    ...['--listen', '127.0.0.1:0', '--admin-listen', `127.0.0.1:${String(adminPort)}`],
  ]);
  let text = '';
  await eventually('it listens', () => {
    text += gatehouse.readSome();
    return text.includes('"message":"listening"');
  });

  const metrics = `http://127.0.0.1:${String(adminPort)}/metrics`;
  // Each line has 2 KB of it.
  const url = `http://localhost:${String(port)}/${'a'.repeat(2_000)}`;
  await eventually('lines are dropped', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(url)));
    for (const { body } of answers) expect(body).toBe('served');
    return DROPPED.test((await send(metrics)).body);
  });

  text = '';
  await eventually('it says what was dropped', () => {
    text += gatehouse.readSome();
    return text.includes('"message":"log lines dropped"');
  });
  for (const line of text.trimEnd().split('\n').slice(1)) expect(line).toMatch(/^\{.*\}$/);
  expect((await send(url)).body).toBe('served');
});
