import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from '@jest/globals';
import { Agent } from 'undici';

import { answerOk } from '../../support/forwarder-wire.ts';
import { testUnless } from '../../support/describe-unless.ts';
import { startHttp2Front } from '../../support/http2/http2-front.ts';
import { HTTP2_AUTHORITY } from '../../support/http2/http2-listener.ts';
import { whyMissing } from '../../support/missing-program.ts';
import { startStatefulMcpServer } from '../../support/stateful-mcp-server.ts';
import { startUpstream } from '../../support/upstream.ts';

const run = promisify(execFile);

const testOfCurl = testUnless(whyMissing('curl'));

describe('Real clients', () => {
  testOfCurl('curl gets a response by HTTP/2, and sends a long body', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    const url = `https://127.0.0.1:${String(front.port)}/x`;
    const options = ['-sk', '--http2', '-w', ' %{http_version} %{http_code}'];
    expect((await run('curl', [...options, url])).stdout).toBe('ok 2 200');
    const upload = [...options, '-T', process.execPath, '-X', 'POST', url];
    expect((await run('curl', upload)).stdout).toBe('ok 2 200');
  });

  test('the official MCP SDK opens a session and calls a tool by HTTP/2', async () => {
    await using server = await startStatefulMcpServer('by HTTP/2');
    const versions: string[] = [];
    await using front = await startHttp2Front({
      upstream: server.origin,
      authorize: ({ message }) => void versions.push(message.httpVersion),
    });
    const dispatcher = new Agent({ allowH2: true, connect: { ca: HTTP2_AUTHORITY } });
    const overHttp2: typeof fetch = (input, init) => {
      // Node's own `fetch` takes a dispatcher of undici, which its type does not say.
      const withDispatcher: RequestInit = Object.assign({}, init, { dispatcher });
      return fetch(input, withDispatcher);
    };
    const url = new URL(`https://localhost:${String(front.port)}/mcp`);
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: overHttp2 }));
    const results = await Promise.all(
      Array.from({ length: 20 }, () => client.callTool({ name: 'whoami' })),
    );
    for (const { content } of results) {
      expect(content).toStrictEqual([{ type: 'text', text: 'by HTTP/2' }]);
    }
    await client.close();
    await dispatcher.destroy();
    expect(new Set(versions)).toStrictEqual(new Set(['2.0']));
  });
});
