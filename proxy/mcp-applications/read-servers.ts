import type { EndpointContext } from '../endpoints/endpoint.ts';
import { InvalidBodyError } from '../errors/request-errors.ts';
import { isJsonMediaType } from '../http/json-media-type.ts';
import { readBody } from '../http/read-body.ts';
import { member } from '../json/json-object.ts';
import { parseJsonObject } from '../json/parse-json-object.ts';
import { mcpServersOf, type McpServer } from './mcp-servers.ts';

/** Room for a thousand servers with URLs of usual length. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Reads `{"routes": [url]}`, and returns the MCP servers with these URLs, each once. Rejects with an
 * `InvalidBodyError` if the body is anything else, or names what is not an MCP server of this gateway.
 */
export async function readServers({
  request: { message },
  configuration,
}: EndpointContext): Promise<readonly McpServer[]> {
  if (!isJsonMediaType(message.headers['content-type'], { suffix: false })) {
    throw new InvalidBodyError('the body must be application/json');
  }
  const document = parseJsonObject(await readBody(message, MAX_BODY_BYTES));
  if (document.kind !== 'object') throw new InvalidBodyError(`the body ${document.problem}`);
  const urls = member(document.members, 'routes');
  if (!Array.isArray(urls) || urls.length === 0) {
    throw new InvalidBodyError('routes must be a list of URLs');
  }
  const { byUrl } = mcpServersOf(configuration.routes);
  const servers = urls.map((url: unknown, index) => {
    const server = typeof url === 'string' ? byUrl.get(url) : undefined;
    if (server !== undefined) return server;
    throw new InvalidBodyError(
      `routes[${String(index)}] is not the URL of an MCP server of this gateway`,
    );
  });
  return [...new Set(servers)];
}
