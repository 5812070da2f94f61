import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';

import type { TracingSettings } from '../../../shared/telemetry/tracing/tracing-settings.ts';
import { eventually } from '../eventually.ts';
import { startGatewayWithUsers, type Settings } from '../gateway-with-users.ts';
import type { TestGateway } from '../gateway.ts';
import { send, type Answer, type RequestOptions } from '../http-client.ts';
import { emptyResult } from '../mcp-route.ts';
import { callMcp, signInClient } from '../signed-in-client.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { recordSpans, type RecordedSpan } from './recorded-spans.ts';

/** A whole gateway that is traced, with an MCP route, a route for everybody, and a user's token. */
export interface TracedGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: Upstream;
  /** URL of the MCP route. Its policy allows the tools that do not begin with `delete_`. */
  readonly mcp: string;
  /** URL of the route for everybody, which has WebSockets. */
  readonly web: string;
  readonly accessToken: string;
  /** Bodies of the requests that reached the upstream complete. */
  readonly bodies: readonly string[];
  /** Sets the handler of complete requests at the upstream, from now on. */
  answerWith(listener: RequestListener): void;
  /** Posts a message to the MCP route as the user. */
  call(message: object, headers?: RequestOptions['headers']): Promise<Answer>;
  /** Sends a request to the route for everybody. */
  visit(path: string, options?: RequestOptions): Promise<Answer>;
  /** Returns the spans that end while a function runs, and until its requests are over. */
  spansOf(run: () => Promise<unknown>, requests?: number): Promise<readonly RecordedSpan[]>;
  /** The spans of requests that ended since the start of the present `spansOf`. */
  spans(): readonly RecordedSpan[];
  /** Traces by these settings from now on; undefined: not at all. */
  traceBy(changes: Partial<TracingSettings> | undefined): void;
}

/** Starts the gateway with these tracing settings and GatewaySettings. */
export async function startTracedGateway(
  changes: Partial<TracingSettings> = {},
  settings: Settings = {},
): Promise<TracedGateway> {
  let answer: RequestListener = emptyResult;
  const bodies: string[] = [];
  const upstream = await startUpstream((message, response) => {
    // A client that leaves before its request is complete gets no response.
    text(message).then(
      (body) => {
        bodies.push(body);
        answer(message, response);
      },
      () => undefined,
    );
  });
  const { tracer, spans } = recordSpans(changes);
  const traced = tracer.settings;
  const world = await startGatewayWithUsers({
    // A test applies the settings itself.
    tracing: { tracer, apply: () => undefined },
  });
  const mcp = world.originOf('mcp');
  const web = world.originOf('web');
  const policy = {
    allow: { and: [{ domain: { is: 'example.com' } }] },
    deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }] },
  };
  await world.configure(
    {
      mcp: { from: mcp, prefix: '/mcp', to: upstream.origin, mcp: { server: {} }, policy },
      web: {
        ...{ from: web, to: upstream.origin, allowWebsockets: true },
        allowPublicUnauthenticatedAccess: true,
      },
    },
    settings,
  );
  const { accessToken } = await signInClient(`${mcp}/mcp`);
  let before = spans.length;
  const isOver = ({ kind }: RecordedSpan): boolean => kind === 'server';
  return {
    ...{ gateway: world.gateway, upstream, mcp: `${mcp}/mcp`, web, accessToken, bodies },
    answerWith: (listener) => (answer = listener),
    call: (message, headers) => callMcp(`${mcp}/mcp`, accessToken, message, headers),
    visit: (path, options) => send(web + path, options),
    async spansOf(run, requests = 1) {
      before = spans.length;
      await run();
      // The span of a request ends after its response.
      await eventually('the spans of requests end', () => {
        return spans.slice(before).filter(isOver).length >= requests;
      });
      return spans.slice(before);
    },
    spans: () => spans.slice(before),
    traceBy: (other) => tracer.apply(other && traced && { ...traced, ...other }),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
