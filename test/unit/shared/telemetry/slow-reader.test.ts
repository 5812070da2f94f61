import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';

import { describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { loggingArguments, startLogging } from '../../../support/stopped-reader.ts';

/** A program that writes 20 MB in many turns of the event loop, then says how many lines were dropped. */
const FLOOD = `
  for (let number = 0; number < 100_000; number += 1) {
    lines.write(String(number).padStart(200, '.') + '\\n');
    if (number % 1_000 === 999) {
      lines.write('audit ' + number + '\\n', 'audit');
      await new Promise(setImmediate);
    }
  }
  process.send(lines.dropped);
`;

const MEGABYTE = 1024 * 1024;

describe('a process whose log is not read', () => {
  test('goes on, keeps a bounded part of its log, and says what it dropped', async () => {
    using logging = startLogging(FLOOD + `process.once('message', () => process.disconnect());`);
    const dropped = await logging.message();
    const reading = logging.readAll();
    logging.send('end');
    const text = await reading;

    expect(text.length).toBeGreaterThan(4 * MEGABYTE);
    expect(text.length).toBeLessThan(5 * MEGABYTE);
    const lines = text.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('audit'))).toHaveLength(100);
    const kept = lines.filter((line) => line.startsWith('.'));
    expect(kept).toEqual(kept.map((_, number) => String(number).padStart(200, '.')));
    expect(dropped).toEqual({ ordinary: 100_000 - kept.length, audit: 0 });
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      ...{ level: 'warn', service: 'log', time: expect.any(String), message: 'log lines dropped' },
      ...{ dropped: 100_000 - kept.length, audit: 0 },
    });
  });

  test('logs again once it is read', async () => {
    using logging = startLogging(`${FLOOD}
      process.once('message', () => {
        lines.write('last\\n');
        process.disconnect();
      });
    `);
    await logging.message();
    let text = '';
    await eventually('it says what it dropped', () => {
      text += logging.readSome();
      return text.includes('log lines dropped');
    });
    logging.send('end');
    expect(await logging.readAll()).toBe('last\n');
  });

  test.each([
    ['ends', ''],
    ['exits', 'process.exit(1);'],
    ['crashes', `throw new Error('crash');`],
  ])('%s although nobody reads', async (_how, end) => {
    using logging = startLogging(FLOOD + end);
    await expect(logging.ended).resolves.toEqual(end === '' ? 0 : 1);
  });
});

test('a process that crashes has written all of its log to a reader that is slow', async () => {
  using logging = startLogging(`
    for (let number = 0; number < 3_000; number += 1) {
      lines.write(String(number).padStart(200, '.') + '\\n');
    }
    throw new Error('crash');
  `);
  const lines = (await logging.readAll()).trimEnd().split('\n');
  expect(lines).toEqual(lines.map((_, number) => String(number).padStart(200, '.')));
  expect(lines).toHaveLength(3_000);
});

describe('a process whose log cannot be written', () => {
  const start = (stdout: number | 'pipe'): ChildProcess =>
    spawn(process.execPath, loggingArguments(`process.send('started'); ${FLOOD}`), {
      stdio: ['ignore', stdout, 'pipe', 'ipc'],
    });

  function startOnFullDisk(): ChildProcess {
    const disk = openSync('/dev/full', 'w');
    const child = start(disk);
    closeSync(disk);
    return child;
  }

  function startWithoutReader(): ChildProcess {
    const child = start('pipe');
    child.stdout?.destroy();
    return child;
  }

  test.each([
    { why: 'the disk is full', begin: startOnFullDisk, code: 'ENOSPC' },
    { why: 'its reader is gone', begin: startWithoutReader, code: 'EPIPE' },
  ])('goes on although $why, and says so once', async ({ begin, code }) => {
    const child = begin();
    const { stderr } = child;
    if (stderr === null) throw new Error('stderr is a pipe');
    const messages: unknown[] = [];
    child.on('message', (message) => messages.push(message));
    const [said] = await Promise.all([text(stderr), once(child, 'close')]);

    expect(messages).toEqual(['started', { ordinary: expect.any(Number), audit: 0 }]);
    expect(messages).not.toEqual(['started', { ordinary: 0, audit: 0 }]);
    expect(said.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        `^the log cannot be written, and lines are lost until it can: .*${code}`,
      ),
    ]);
    expect(child.exitCode).toBe(0);
  });
});
