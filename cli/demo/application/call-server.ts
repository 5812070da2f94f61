import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** What a visit of an MCP server showed. */
export interface Visit {
  readonly tools: readonly string[];
  /** The tool that was called. */
  readonly called: string;
  readonly result: string;
}

/**
 * Lists the tools of an MCP server, and calls the first that only reads and needs no arguments. It knows nothing but the
 * token, as the API of a language model would in another network.
 */
export async function visitServer(url: string, authorization: string): Promise<Visit> {
  const client = new Client({ name: 'gatehouse-demo-application', version: '1.0.0' });
  const options = { requestInit: { headers: { authorization } } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
  try {
    const { tools } = await client.listTools();
    const tool = tools.find(({ annotations, inputSchema: { required = [] } }) => {
      return annotations?.readOnlyHint === true && required.length === 0;
    });
    if (tool === undefined) throw new Error('the server has no tool that only reads');
    const { content } = await client.callTool({ name: tool.name, arguments: {} });
    const texts = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`));
    return {
      tools: tools.map(({ name }) => name),
      called: tool.name,
      result: texts.join('\n'),
    };
  } finally {
    await client.close();
  }
}
