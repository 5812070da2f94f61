import { CellGroup } from '../../../shared/telemetry/metrics/cell-group.ts';
import type { HistogramCell } from '../../../shared/telemetry/metrics/histogram.ts';
import type { ValueCell } from '../../../shared/telemetry/metrics/value-metric.ts';
import { isPermitted } from '../../policy/build-policy-evaluator.ts';
import type { Decision } from '../../policy/decision.ts';
import { McpCells } from './mcp-cells.ts';
import type { NameBudget } from './name-budget.ts';
import type { RequestFamilies } from './request-families.ts';
import { methodLabel, statusLabel } from './request-labels.ts';

/** How MCP messages are sent: with sessions before 2026-07-28, and without since. `none`: not MCP. */
export type McpEra = 'none' | 'stateful' | 'stateless';

const CLASSES = 6;
const ERAS: Readonly<Record<McpEra, number>> = { none: 0, stateful: 1, stateless: 2 };

/** What a request was counted as. */
interface CountedRequest {
  readonly method: string | undefined;
  readonly statusClass: number;
  readonly era: McpEra;
  readonly cell: ValueCell;
}

/**
 * The numbers of one route. They are made at the first event of each kind, so a route without traffic has
 * none, and found without making labels.
 */
export class RouteCells {
  readonly #route: string;
  readonly #families: RequestFamilies;
  readonly #group = new CellGroup();
  /** By method, then by class of status and era. */
  readonly #requests = new Map<string, (ValueCell | undefined)[]>();
  readonly #allowed = new Map<string, ValueCell>();
  readonly #denied = new Map<string, ValueCell>();
  readonly #errors = new Map<string, ValueCell>();
  #upstream: HistogramCell | undefined;
  #lastRequest: CountedRequest | undefined;
  #lastDecision: { readonly decision: Decision; readonly cell: ValueCell } | undefined;
  readonly mcp: McpCells;

  constructor(route: string, families: RequestFamilies, budget: NameBudget) {
    this.#route = route;
    this.#families = families;
    this.mcp = new McpCells({ route, calls: families.calls, group: this.#group, budget });
  }

  /** Counts a request that is over; `statusClass` is its number. */
  request(method: string | undefined, statusClass: number, era: McpEra): void {
    const last = this.#lastRequest;
    // Most requests to a route are like the one before.
    if (
      last !== undefined &&
      last.method === method &&
      last.statusClass === statusClass &&
      last.era === era
    ) {
      last.cell.value += 1;
      return;
    }
    const cell = this.#requestCell(methodLabel(method), statusClass, era);
    cell.value += 1;
    this.#lastRequest = { method, statusClass, era, cell };
  }

  upstream(seconds: number): void {
    this.#upstream ??= this.#group.cell(this.#families.upstreamSeconds, { route: this.#route });
    this.#upstream.observe(seconds);
  }

  decision(decision: Decision): void {
    // Decisions for the same reasons are one object.
    if (this.#lastDecision?.decision !== decision) {
      this.#lastDecision = { decision, cell: this.#decisionCell(decision) };
    }
    this.#lastDecision.cell.value += 1;
  }

  error(reason: string): void {
    let cell = this.#errors.get(reason);
    if (cell === undefined) {
      const labels = { route: this.#route, reason };
      this.#errors.set(reason, (cell = this.#group.cell(this.#families.errors, labels)));
    }
    cell.value += 1;
  }

  #requestCell(method: string, statusClass: number, era: McpEra): ValueCell {
    let cells = this.#requests.get(method);
    if (cells === undefined) this.#requests.set(method, (cells = []));
    const status = statusLabel(statusClass);
    return (cells[ERAS[era] * CLASSES + statusClass] ??= this.#group.cell(this.#families.requests, {
      ...{ route: this.#route, method, status, era },
    }));
  }

  #decisionCell(decision: Decision): ValueCell {
    const isAllowed = isPermitted(decision);
    const reason = reasonOf(decision);
    const cells = isAllowed ? this.#allowed : this.#denied;
    let cell = cells.get(reason);
    if (cell === undefined) {
      const result = isAllowed ? 'allow' : 'deny';
      const labels = { route: this.#route, result, reason };
      cells.set(reason, (cell = this.#group.cell(this.#families.decisions, labels)));
    }
    return cell;
  }

  /** Forgets all numbers of the route. */
  forget(): void {
    this.mcp.forget();
    this.#group.clear();
  }
}

/** Reasons of policies are codes of the gateway's own: there are a few. */
function reasonOf({ allow, allowReasons, deny, denyReasons }: Decision): string {
  const [first = 'none'] = allow && deny ? denyReasons : allowReasons;
  return first;
}
