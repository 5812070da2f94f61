import { createHash, randomBytes } from 'node:crypto';
import { Agent, createServer } from 'node:http';
import { Readable } from 'node:stream';

import httpProxy from 'http-proxy';

import { buildPolicyEvaluator } from '../../../proxy/policy/build-policy-evaluator.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import { compiled, IDENTITY, TOOL_POLICY } from './access.ts';
import { discard, serveParent } from '../support/subject-process.ts';
import { TOKEN_COUNT } from './workload.ts';

/** Does the same work on http-proxy, with the same caches: token, policy, assertion, log, forward. */
const tokens = Array.from({ length: TOKEN_COUNT }, () => randomBytes(150).toString('base64url'));
const sessions = new Map(
  tokens.map((token) => [
    token,
    { identity: IDENTITY, assertion: createHash('sha512').update(token).digest('hex').repeat(3) },
  ]),
);
const policy = buildPolicyEvaluator(compiled(TOOL_POLICY));
const lines = new LineWriter(process.argv.includes('--log') ? process.stdout : discard);
const proxy = httpProxy.createProxyServer({
  target: process.argv[2],
  agent: new Agent({ keepAlive: true, maxSockets: 256 }),
});

await serveParent(
  createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const session = sessions.get((request.headers.authorization ?? '').slice('Bearer '.length));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      // A message of this benchmark.
      const message = JSON.parse(body.toString()) as { method: string; params: { name: string } };
      const decision = policy.decide({
        identity: session?.identity,
        method: 'POST',
        path: '/mcp',
        clientAddress: '',
        time: 0,
        isPreflight: false,
        mcpMethod: message.method,
        toolName: message.params.name,
        toolArguments: undefined,
        resources: [],
        prompt: undefined,
      });
      const record = { ...decision, 'mcp-method': message.method, 'mcp-tool': message.params.name };
      lines.write(`${JSON.stringify({ time: new Date().toISOString(), ...record })}\n`);
      delete request.headers.authorization;
      request.headers['x-gateway-assertion'] = session?.assertion;
      proxy.web(request, response, { buffer: Readable.from([body]) });
    });
  }),
  tokens,
);
