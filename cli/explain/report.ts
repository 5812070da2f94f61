import type { DescribedRequest } from '../../proxy/explain/described-message.ts';
import type { Explanation, MatchedRoute } from '../../proxy/explain/explanation.ts';
import type { Identity } from '../../proxy/records/session.ts';
import type { PathMatch } from '../../shared/snapshot/snapshot.ts';
import { policyReport, type PolicyReport } from './policy-report.ts';

/**
 * What `gatehouse explain` prints: with `--output json` as it is. docs/explain.md documents it, and its
 * members keep their meaning.
 */
export interface ExplainReport {
  /** `none`: the gateway answers by itself. `failure`: it cannot decide now. */
  readonly decision: 'allow' | 'deny' | 'none' | 'failure';
  /** Why; `allow` has the reasons of the policy. */
  readonly reasons: readonly string[];
  readonly request: {
    readonly method: string;
    readonly host: string;
    readonly target: string;
    readonly clientAddress: string;
    /** ISO 8601. */
    readonly time: string;
    /** The JSON-RPC message of a request to an MCP route. */
    readonly message?: unknown;
  };
  /** The route that the request belongs to; absent if there is none. */
  readonly route?: {
    readonly name: string;
    readonly kind: 'web' | 'mcp' | 'public';
    readonly from: string;
    readonly host: 'exact' | 'wildcard';
    readonly path: PathMatch;
  };
  /** Absent for anonymous requests, and if the request was refused before its user was known. */
  readonly user?: Identity;
  /** Absent if the request reaches its upstream. */
  readonly answer?: {
    /** Absent at the gateway's own endpoints. */
    readonly status?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly challenge?: string;
  };
  /** Absent if the policy was not asked. */
  readonly policy?: PolicyReport;
  /** The records that the gateway writes. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
}

/** Makes the report of an explanation. `time` is in milliseconds since the epoch. */
export function reportOf(
  explanation: Explanation,
  request: DescribedRequest,
  time: number,
): ExplainReport {
  const { matched, checked, log } = explanation;
  const { method, target, fields, clientAddress, body } = request;
  return {
    ...decisionOf(explanation),
    request: {
      ...{ method, host: fields[1] ?? '', target, clientAddress },
      time: new Date(time).toISOString(),
      ...(body !== undefined && { message: JSON.parse(body.toString('utf8')) as unknown }),
    },
    ...(matched && { route: routeOf(matched) }),
    ...(checked?.identity && { user: checked.identity }),
    ...(checked?.policy && { policy: policyReport(checked.policy) }),
    log,
  };
}

function decisionOf({
  outcome,
  checked,
}: Explanation): Pick<ExplainReport, 'decision' | 'reasons' | 'answer'> {
  const {
    allow = false,
    allowReasons = [],
    deny = false,
    denyReasons = [],
  } = checked?.decision ?? {};
  switch (outcome.kind) {
    case 'allow':
      return { decision: 'allow', reasons: allowReasons };
    case 'answer':
      return {
        ...{ decision: 'none', reasons: [] },
        answer: outcome.status === undefined ? {} : { status: outcome.status },
      };
    case 'deny':
    case 'failure': {
      const { kind, ...answer } = outcome;
      const decisive = [...(allow ? [] : allowReasons), ...(deny ? denyReasons : [])];
      const reasons = checked === undefined ? [answer.reason] : [...new Set(decisive)];
      return { decision: kind, reasons, answer };
    }
  }
}

function routeOf({ host, route: { compiled } }: MatchedRoute): NonNullable<ExplainReport['route']> {
  const { name, path, access, mcpServer } = compiled;
  const kind = mcpServer === undefined ? 'web' : 'mcp';
  return {
    name,
    kind: access.kind === 'public' ? 'public' : kind,
    from: host.origin,
    host: host.host.startsWith('*.') ? 'wildcard' : 'exact',
    path,
  };
}
