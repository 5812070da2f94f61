import { ProtocolError, type CallToolResult, type Client } from '@modelcontextprotocol/client';

import { bold, dim, green, indent, red } from './text.ts';

/** Error code of a tool call that the policy denies. */
const POLICY_DENIED = 40301;

/** Prints one paragraph. */
export type Print = (text: string) => void;

/** Shows what the signed-in user can do: lists the tools, and calls three of them. */
export async function takeTour(client: Client, print: Print): Promise<void> {
  const { tools } = await client.listTools();
  const lines = tools.map(({ name, description = '', annotations }) => {
    const mark = annotations?.destructiveHint === true ? red('  dangerous') : '';
    return `${name.padEnd(18)} ${dim(description)}${mark}`;
  });
  print(`${bold('Tools')}\n${indent(lines.join('\n'))}`);

  await call(client, print, { name: 'whoami', arguments: {} });
  const listed = await call(client, print, {
    name: 'list_invoices',
    arguments: { status: 'overdue' },
  });
  const id = /INV-\d+/.exec(listed)?.[0] ?? 'INV-1003';
  await call(client, print, { name: 'delete_invoice', arguments: { id } });
  print(
    dim('Next: the sample application, in a browser. The demo printed its address at the start.'),
  );
}

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Returns the text of the result, or an empty text if the gateway refused the call. */
async function call(client: Client, print: Print, toolCall: ToolCall): Promise<string> {
  const title = `${bold(toolCall.name)} ${dim(JSON.stringify(toolCall.arguments))}`;
  try {
    const result = await client.callTool({ ...toolCall });
    const text = textOf(result);
    print(`${title}\n${indent(result.isError === true ? red(text) : green(text))}`);
    return text;
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== POLICY_DENIED) throw error;
    const refusal = red(`Refused by the gateway: ${error.message}`);
    print(`${title}\n${indent(`${refusal}\n${dim(JSON.stringify(error.data))}`)}`);
    return '';
  }
}

function textOf({ content }: CallToolResult): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join('\n');
}
