import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';

import type { AssertionReader } from './assertion-reader.ts';
import {
  convertCurrency,
  CURRENCIES,
  INVOICE_STATUSES,
  type Invoice,
  type InvoiceBook,
} from './invoices.ts';

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

/** The data and the caller of one request. */
export interface ToolContext {
  readonly invoices: InvoiceBook;
  readonly readAssertion: AssertionReader;
  /** The `X-Gateway-Assertion` header of the request; null if the request bypassed the gateway. */
  readonly assertion: string | null;
}

/** Creates an MCP server with a few tools, one of them destructive. It has no access rules. */
export function createToolServer(context: ToolContext): McpServer {
  const server = new McpServer({ name: 'demo-invoices', version: '1.0.0' });
  registerInvoiceTools(server, context.invoices);
  registerSmallTools(server);
  registerWhoami(server, context);
  return server;
}

function registerInvoiceTools(server: McpServer, invoices: InvoiceBook): void {
  const id = z.string().describe('Such as INV-1001');
  server.registerTool(
    'list_invoices',
    {
      description: 'List invoices, all or those with one status',
      inputSchema: z.object({ status: z.enum(INVOICE_STATUSES).optional() }),
      annotations: READ_ONLY,
    },
    ({ status }) => text(invoices.list(status).map(describe).join('\n')),
  );
  server.registerTool(
    'get_invoice',
    {
      description: 'Show one invoice',
      inputSchema: z.object({ id }),
      annotations: READ_ONLY,
    },
    (input) => {
      const invoice = invoices.find(input.id);
      return invoice === undefined ? noSuchInvoice(input.id) : text(describe(invoice));
    },
  );
  server.registerTool(
    'delete_invoice',
    {
      description: 'Delete an invoice for good',
      inputSchema: z.object({ id }),
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    },
    (input) =>
      invoices.delete(input.id) ? text(`${input.id} is deleted`) : noSuchInvoice(input.id),
  );
}

function registerSmallTools(server: McpServer): void {
  server.registerTool(
    'convert_currency',
    {
      description: 'Convert an amount of money',
      inputSchema: z.object({
        amount: z.number(),
        from: z.enum(CURRENCIES),
        to: z.enum(CURRENCIES),
      }),
      annotations: READ_ONLY,
    },
    ({ amount, from, to }) =>
      text(`${String(amount)} ${from} = ${String(convertCurrency(amount, from, to))} ${to}`),
  );
  server.registerTool(
    'echo',
    {
      description: 'Return the same text',
      inputSchema: z.object({ text: z.string() }),
      annotations: READ_ONLY,
    },
    (input) => text(input.text),
  );
}

function registerWhoami(server: McpServer, { assertion, readAssertion }: ToolContext): void {
  server.registerTool(
    'whoami',
    {
      description: 'Show who you are, as the gateway asserts it to this server',
      inputSchema: z.object({}),
      annotations: READ_ONLY,
    },
    async () => {
      if (assertion === null) return failure('The request has no X-Gateway-Assertion.');
      try {
        const { name, email, groups, sub } = await readAssertion(assertion);
        return text(JSON.stringify({ sub, name, email, groups }));
      } catch {
        return failure('The X-Gateway-Assertion of the request is not valid here.');
      }
    },
  );
}

function describe({ id, customer, amount, currency, status }: Invoice): string {
  return `${id}  ${customer}, ${String(amount)} ${currency}, ${status}`;
}

function noSuchInvoice(id: string): CallToolResult {
  return failure(`There is no invoice ${id}.`);
}

function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: content }] };
}

function failure(message: string): CallToolResult {
  return { ...text(message), isError: true };
}
