import { performance } from 'node:perf_hooks';

import type { HistogramCell } from '../../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import type { ResourceChange } from '../../configuration/snapshot-changes.ts';
import type { GatewayRoute } from '../../configuration/routing-table.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { PolicyDeniedError, ToolCallDeniedError } from '../../errors/denial-errors.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { ClientGoneError } from '../../errors/request-errors.ts';
import { UpstreamTimeoutError, UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import type { Forwarded } from '../../forwarding/forwarded.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import type { SentResponse } from '../../http/send-response.ts';
import type { JsonRpcMessage } from '../../mcp/json-rpc.ts';
import { isStateless } from '../../mcp/mirrored-headers.ts';
import type { Decision } from '../../policy/decision.ts';
import { McpOutcome } from './mcp-cells.ts';
import { NameBudget } from './name-budget.ts';
import { requestFamilies, type RequestFamilies } from './request-families.ts';
import { statusClass, statusLabel } from './request-labels.ts';
import { RouteCells, type McpEra } from './route-cells.ts';

/** A request that is over, as its metrics see it. */
export interface MeasuredRequest {
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Absent if its head could not be parsed. */
  readonly request: GatewayRequest | undefined;
  /** Present if the request was for an endpoint of the gateway. */
  readonly endpoint?: Endpoint | undefined;
  /** Absent if none was matched. */
  readonly route: GatewayRoute | undefined;
  /** Of a request to an MCP route. */
  readonly body?: { readonly message: JsonRpcMessage | undefined } | undefined;
  /** The gateway's own response, or a forwarded one. Absent if the client got none. */
  readonly sent: SentResponse | Forwarded | undefined;
  /** Why the request was refused, or has no whole response; absent if neither. */
  readonly failure: unknown;
}

/** A route, as far as its numbers are concerned. */
interface NamedRoute {
  readonly compiled: { readonly name: string };
}

/** Names of tools with a label of their own, in all routes together. */
const MAX_TOOLS = 5_000;

const MS_PER_SECOND = 1_000;

/** The metrics of requests. Warm requests add to numbers that were found before. */
export class RequestMetrics {
  readonly #families: RequestFamilies;
  readonly #budget = new NameBudget(MAX_TOOLS);
  /** Names of the routes that are served. */
  readonly #served = new Set<string>();
  readonly #routes = new Map<string, RouteCells>();
  readonly #ofNoRoute: RouteCells;
  readonly #gateway: Readonly<Record<'mcp' | 'web' | 'endpoint' | 'none', HistogramCell>>;
  #endpoints: ReadonlyMap<Endpoint, string> = new Map();

  constructor(registry: MetricsRegistry) {
    this.#families = requestFamilies(registry);
    this.#ofNoRoute = new RouteCells('', this.#families, this.#budget);
    const { gatewaySeconds } = this.#families;
    this.#gateway = {
      mcp: gatewaySeconds.cell({ kind: 'mcp' }),
      web: gatewaySeconds.cell({ kind: 'web' }),
      endpoint: gatewaySeconds.cell({ kind: 'endpoint' }),
      none: gatewaySeconds.cell({ kind: 'none' }),
    };
  }

  /** Number of routes that are served. */
  get routes(): number {
    return this.#served.size;
  }

  /** Says under which paths endpoints are counted. */
  nameEndpoints(paths: ReadonlyMap<Endpoint, string>): void {
    this.#endpoints = paths;
  }

  /** Follows a change of the configuration: routes that are gone take their numbers with them. */
  followChanges(changes: readonly ResourceChange[]): void {
    for (const { before, after } of changes) {
      if (after?.value.kind === 'route') this.#served.add(after.value.name);
      else if (before?.value.kind === 'route') this.#forget(before.value.name);
    }
  }

  countDecision(route: NamedRoute, decision: Decision): void {
    this.#cellsOf(route).decision(decision);
  }

  /** Counts a request that is over. */
  count(measured: MeasuredRequest): void {
    const { request, endpoint, route, body, sent, failure } = measured;
    const message = body?.message;
    const cells = this.#cellsOf(route);
    const status = statusClass(sent?.status);
    cells.request(request?.method, status, eraOf(route, message));
    if (message !== undefined) cells.mcp.count(message, outcomeOf(failure, status));
    if (endpoint !== undefined) this.#countEndpoint(endpoint, status);
    if (failure !== undefined) countFailure(failure, cells);
    this.#observe(measured, cells);
  }

  #observe(
    { startedAt, sent, route, endpoint, failure }: MeasuredRequest,
    cells: RouteCells,
  ): void {
    const gateway = this.#gateway[kindOf(route, endpoint)];
    if (sent !== undefined && 'upstream' in sent) {
      gateway.observe((sent.sentAt - startedAt) / MS_PER_SECOND);
      cells.upstream(sent.firstByteMs / MS_PER_SECOND);
      return;
    }
    // Not for every request: reading the clock costs more than everything else here.
    const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
    if (isOfUpstream(failure)) cells.upstream(seconds);
    else gateway.observe(seconds);
  }

  #countEndpoint(endpoint: Endpoint, status: number): void {
    const labels = {
      endpoint: this.#endpoints.get(endpoint) ?? 'none',
      status: statusLabel(status),
    };
    this.#families.endpointRequests.add(labels);
  }

  #cellsOf(route: NamedRoute | undefined): RouteCells {
    if (route === undefined) return this.#ofNoRoute;
    const { name } = route.compiled;
    return this.#routes.get(name) ?? this.#begin(name);
  }

  /** A request may end after its route was deleted: then nothing would ever forget its cells. */
  #begin(name: string): RouteCells {
    if (!this.#served.has(name)) return this.#ofNoRoute;
    const cells = new RouteCells(name, this.#families, this.#budget);
    this.#routes.set(name, cells);
    return cells;
  }

  #forget(name: string): void {
    this.#served.delete(name);
    this.#routes.get(name)?.forget();
    this.#routes.delete(name);
  }
}

/** Since 2026-07-28 every message says its version, and there are no requests without a message. */
function eraOf(route: GatewayRoute | undefined, message: JsonRpcMessage | undefined): McpEra {
  if (route?.compiled.mcpServer === undefined) return 'none';
  const version = message?.protocolVersion;
  return version !== undefined && isStateless(version) ? 'stateless' : 'stateful';
}

function kindOf(
  route: GatewayRoute | undefined,
  endpoint: Endpoint | undefined,
): 'mcp' | 'web' | 'endpoint' | 'none' {
  if (route !== undefined) return route.compiled.mcpServer === undefined ? 'web' : 'mcp';
  return endpoint === undefined ? 'none' : 'endpoint';
}

/** Returns whether a failure is that of an upstream that did not respond. */
function isOfUpstream(failure: unknown): boolean {
  return failure instanceof UpstreamTimeoutError || failure instanceof UpstreamUnreachableError;
}

/** Clients that left are in the metric of requests. */
function countFailure(failure: unknown, cells: RouteCells): void {
  if (failure instanceof ClientGoneError) return;
  cells.error(failure instanceof GatewayError ? failure.reason : 'internal-error');
}

const CLIENT_ERRORS = 4;

function outcomeOf(failure: unknown, status: number): McpOutcome {
  if (failure instanceof PolicyDeniedError || failure instanceof ToolCallDeniedError) {
    return McpOutcome.denied;
  }
  if (status === 0) return McpOutcome.clientGone;
  if (status < CLIENT_ERRORS) return McpOutcome.answered;
  return status === CLIENT_ERRORS ? McpOutcome.refused : McpOutcome.failed;
}
