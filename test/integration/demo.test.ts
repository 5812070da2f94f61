import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Button } from '../../cli/demo/client/html-forms.ts';
import { TextBrowser, type VisitedPage } from '../../cli/demo/client/text-browser.ts';

const ROOT = join(import.meta.dirname, '../..');
const ANY_PORTS = ['--port', '0', '--idp-port', '0', '--mcp-port', '0'];

// Each test starts processes, which takes time on a busy machine.
interface Finished {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

interface RunningDemo {
  readonly process: ChildProcess;
  readonly url: string;
  /** Where the application is. */
  readonly application: string;
  /** Everything on stdout so far. */
  log(): string;
}

function start(script: string, argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(ROOT, script), ...argv], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function runToEnd(script: string, argv: readonly string[]): Promise<Finished> {
  const child = start(script, argv);
  if (child.stdout === null || child.stderr === null) throw new Error('the output is not piped');
  const exit = once(child, 'close');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await exit;
  return { code: child.exitCode, output, errors };
}

/** Reads what the demo prints until it names its address. */
async function startDemo(): Promise<RunningDemo> {
  const child = start('cli/main.ts', ['demo', ...ANY_PORTS]);
  if (child.stdout === null || child.stderr === null) throw new Error('the output is not piped');
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  let guide = '';
  for await (const chunk of child.stderr.setEncoding('utf8')) {
    guide += String(chunk);
    const [, url] = /demo:client -- --url (http:\/\/localhost:\d+)/.exec(guide) ?? [];
    const [, application] = /sample application.*\s+(http:\/\/localhost:\d+)/.exec(guide) ?? [];
    if (url !== undefined && application !== undefined) {
      return { process: child, url, application, log: () => log };
    }
  }
  throw new Error(`the demo did not start: ${guide}`);
}

function visit(demo: RunningDemo, person: string): Promise<Finished> {
  return runToEnd('cli/demo/client/main.ts', ['--url', demo.url, '--as', person]);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Returns a port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Finds the button of an account. */
function isAccount(account: string): (button: Button) => boolean {
  return ({ fields }) => fields.get('account') === account;
}

/** The states of the servers on a page of the application. */
function statesIn({ body }: VisitedPage): Readonly<Record<string, string>> {
  const servers = body.matchAll(/<h2>(\w+)<\/h2>\s*<p><code>[^<]*<\/code>: ([\w ]+)<\/p>/g);
  return Object.fromEntries([...servers].map(([, name = '', state = '']) => [name, state]));
}

/** Authorization records of one user's calls of one tool. */
function decisions(demo: RunningDemo, email: string, tool: string): readonly unknown[] {
  return demo
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>)
    .filter((record) => record['message'] === 'authorize check')
    .filter((record) => record['email'] === email && record['mcp-tool'] === tool);
}

describe('the demo', () => {
  let demo: RunningDemo;

  beforeAll(async () => {
    demo = await startDemo();
  });

  afterAll(() => {
    demo.process.kill('SIGKILL');
  });

  test('shows an engineer the tools and her identity, and denies her the dangerous one', async () => {
    const { code, output, errors } = await visit(demo, 'alice');
    expect(errors).toBe('');
    expect(output).toContain('list_invoices');
    expect(output).toContain('dangerous');
    expect(output).toContain('"email":"alice@example.com"');
    expect(output).toContain('"groups":["engineering"]');
    expect(output).toContain('INV-1003  Sakura Trading');
    expect(output).toContain('Refused by the gateway');
    expect(output).toContain('"reason":"mcp-tool-unauthorized"');
    expect(output).not.toContain('is deleted');
    expect(code).toBe(0);
    expect(decisions(demo, 'alice@example.com', 'whoami')).toMatchObject([
      { allow: true, deny: false },
    ]);
    expect(decisions(demo, 'alice@example.com', 'delete_invoice')).toMatchObject([
      {
        allow: false,
        'allow-why-false': ['mcp-tool-unauthorized'],
        deny: true,
        'mcp-tool-parameters': { id: 'INV-1003' },
      },
    ]);
  });

  test('lets an admin call the dangerous tool', async () => {
    const { code, output, errors } = await visit(demo, 'carol');
    expect(errors).toBe('');
    expect(output).toContain('"groups":["admins","on-call"]');
    expect(output).toContain('INV-1003 is deleted');
    expect(output).not.toContain('Refused');
    expect(code).toBe(0);
    expect(decisions(demo, 'carol@example.com', 'delete_invoice')).toMatchObject([
      { allow: true, deny: false },
    ]);
  });

  test('lets an engineer connect her notes, and an application call them with her token', async () => {
    const browser = new TextBrowser();
    const press = (page: VisitedPage, is: (button: Button) => boolean): Promise<VisitedPage> => {
      const button = page.buttons.find(is);
      if (button === undefined) throw new Error(`nothing to press on ${page.body}`);
      return browser.press(page, button);
    };
    const chooser = await browser.open(new URL(demo.application));
    const overview = await press(chooser, isAccount('bob'));
    expect(overview.title).toBe('The sample application');
    expect(overview.body).toContain('Hello, Bob Brandt');
    expect(statesIn(overview)).toEqual({ invoices: 'connected', notes: 'not connected' });

    const accounts = await press(overview, ({ fields }) => fields.has('redirect_url'));
    expect(accounts.title).toBe('Which notes may Gatehouse use?');
    const connected = await press(accounts, isAccount('carol'));
    expect(connected.url.origin).toBe(demo.application);
    expect(statesIn(connected)).toEqual({ invoices: 'connected', notes: 'connected' });

    const results = await Promise.all(
      connected.buttons
        .filter(({ action }) => action === '/call')
        .map((button) => browser.press(connected, button)),
    );
    expect(results.map(({ title }) => title)).toEqual([
      'list_invoices returned this',
      'list_notes returned this',
    ]);
    // The account at the notes is another one than that of the gateway.
    expect(results[1]?.body).toContain('Notes of the account carol');
    expect(decisions(demo, 'bob@example.com', 'list_notes')).toMatchObject([{ allow: true }]);

    const disconnected = await press(connected, ({ action }) => action === '/disconnect');
    expect(statesIn(disconnected)).toEqual({ invoices: 'connected', notes: 'not connected' });
    const lines = demo.log().split('\n');
    expect(lines.filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  });

  test('names the users who can sign in, and refuses any other', async () => {
    const { code, errors } = await visit(demo, 'mallory');
    expect(errors).toContain('--as takes alice, bob or carol, not "mallory"');
    expect(code).toBe(2);
  });

  test('stops with everything it started when it is interrupted', async () => {
    const exit = once(demo.process, 'exit');
    demo.process.kill('SIGINT');
    expect(await exit).toEqual([0, null]);
    await expect(fetch(demo.url)).rejects.toThrow();
  });

  test('stops in the same way when its terminal is closed', async () => {
    const { process: child } = await startDemo();
    const exit = once(child, 'exit');
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    expect(await exit).toEqual([0, null]);
  });
});

describe('a demo that cannot start', () => {
  test.each([
    ['--port', 'GATEHOUSE_DEMO_PORT'],
    ['--idp-port', 'GATEHOUSE_DEMO_IDP_PORT'],
    ['--mcp-port', 'GATEHOUSE_DEMO_MCP_PORT'],
  ])('names the flag and the variable if the port of %s is in use', async (flag, variable) => {
    const other = createServer();
    const port = String(await listen(other));
    const { code, errors } = await runToEnd('cli/main.ts', ['demo', ...ANY_PORTS, flag, port]);
    other.close();
    expect(errors).toContain(`port ${port} is in use`);
    expect(errors).toContain(`${flag} PORT or ${variable}=PORT`);
    expect(code).toBe(1);
  });

  test('reports a value that is not a port', async () => {
    const { code, errors } = await runToEnd('cli/main.ts', ['demo', '--port', '123456']);
    expect(errors).toContain('--port must be a port');
    expect(code).toBe(2);
  });
});

describe('the demo client', () => {
  test('names the URL that does not answer if no demo runs', async () => {
    const url = `http://localhost:${String(await freePort())}/`;
    const { code, errors } = await runToEnd('cli/demo/client/main.ts', ['--url', url]);
    expect(errors).toContain(`No server at ${url}`);
    expect(errors).toContain('make run');
    expect(code).toBe(1);
  });

  test('prints its usage if a flag is unknown', async () => {
    const { code, errors } = await runToEnd('cli/demo/client/main.ts', ['--user', 'alice']);
    expect(errors).toContain('--as PERSON');
    expect(code).toBe(2);
  });
});
