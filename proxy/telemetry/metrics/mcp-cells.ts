import type { CellGroup } from '../../../shared/telemetry/metrics/cell-group.ts';
import type { ValueCell } from '../../../shared/telemetry/metrics/value-metric.ts';
import type { JsonRpcMessage } from '../../mcp/json-rpc.ts';
import { METHODS_OF_CLIENTS } from '../../mcp/methods.ts';
import type { NameBudget } from './name-budget.ts';
import type { RequestFamilies } from './request-families.ts';

/** The labels of what became of an MCP message. */
const OUTCOME_LABELS = ['answered', 'denied', 'refused', 'failed', 'client-gone'] as const;

/** What became of an MCP message: numbers, because a number finds its cell at once. */
export const McpOutcome = { answered: 0, denied: 1, refused: 2, failed: 3, clientGone: 4 } as const;

/** See the values of the same name. */
export type McpOutcome = (typeof McpOutcome)[keyof typeof McpOutcome];

/** Tools of one route with a label of their own. */
const MAX_TOOLS = 100;

/**
 * Tools of one route that were denied at first. Attack: calls of tools that do not exist, so that those that
 * do become `other`.
 */
const MAX_DENIED_TOOLS = 20;

const MAX_TOOL_LENGTH = 128;

const OTHER = 'other';

const METHODS: ReadonlySet<string> = new Set(METHODS_OF_CLIENTS);

/** What the cells of a route need. */
export interface McpCellOptions {
  readonly route: string;
  readonly calls: RequestFamilies['calls'];
  readonly group: CellGroup;
  readonly budget: NameBudget;
}

/** Counts the MCP messages of one route. Clients choose methods and tools, and so there is a bound. */
export class McpCells {
  readonly #options: McpCellOptions;
  readonly #ofMethods = new Map<string, OutcomeCells>();
  readonly #ofTools = new Map<string, OutcomeCells>();
  #otherTools: OutcomeCells | undefined;
  #deniedTools = 0;

  constructor(options: McpCellOptions) {
    this.#options = options;
  }

  count({ method, toolName }: JsonRpcMessage, outcome: McpOutcome): void {
    const cells = toolName === undefined ? this.#ofMethod(method) : this.#ofTool(toolName, outcome);
    cells.count(outcome);
  }

  /** Gives the names of tools back to the budget, when the route is gone. */
  forget(): void {
    this.#options.budget.giveBack(this.#ofTools.size);
    this.#ofTools.clear();
  }

  #ofMethod(method: string | undefined): OutcomeCells {
    const label = labelOf(method);
    let cells = this.#ofMethods.get(label);
    if (cells === undefined) {
      this.#ofMethods.set(label, (cells = new OutcomeCells(this.#options, label, '')));
    }
    return cells;
  }

  #ofTool(tool: string, outcome: McpOutcome): OutcomeCells {
    const known = this.#ofTools.get(tool);
    if (known !== undefined) return known;
    if (!this.#mayHaveLabel(tool, outcome)) {
      return (this.#otherTools ??= new OutcomeCells(this.#options, TOOLS_CALL, OTHER));
    }
    if (outcome === McpOutcome.denied) this.#deniedTools += 1;
    const cells = new OutcomeCells(this.#options, TOOLS_CALL, tool);
    this.#ofTools.set(tool, cells);
    return cells;
  }

  #mayHaveLabel(tool: string, outcome: McpOutcome): boolean {
    if (tool.length > MAX_TOOL_LENGTH) return false;
    const isFull =
      outcome === McpOutcome.denied
        ? this.#deniedTools >= MAX_DENIED_TOOLS
        : this.#ofTools.size - this.#deniedTools >= MAX_TOOLS;
    return !isFull && this.#options.budget.take();
  }
}

const TOOLS_CALL = 'tools/call';

/** A response of a client, to a request of its server, has no method. */
function labelOf(method: string | undefined): string {
  if (method === undefined) return 'response';
  return METHODS.has(method) ? method : OTHER;
}

/** The cells of one method, or of one tool. */
class OutcomeCells {
  readonly #options: McpCellOptions;
  readonly #method: string;
  readonly #tool: string;
  readonly #cells: (ValueCell | undefined)[] = [];

  constructor(options: McpCellOptions, method: string, tool: string) {
    this.#options = options;
    this.#method = method;
    this.#tool = tool;
  }

  count(outcome: McpOutcome): void {
    const cell = (this.#cells[outcome] ??= this.#make(outcome));
    cell.value += 1;
  }

  #make(outcome: McpOutcome): ValueCell {
    const { route, calls, group } = this.#options;
    const labels = { route, method: this.#method, tool: this.#tool };
    return group.cell(calls, { ...labels, outcome: OUTCOME_LABELS[outcome] });
  }
}
