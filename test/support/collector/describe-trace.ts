import type { ReceivedSpan } from './received-span.ts';
import { buildSpanTrees, type SpanTree } from './span-tree.ts';

/** Attributes that differ from run to run: ids, ports, and how long something took. */
const VARYING = new Set([
  'exception.stacktrace',
  'gatehouse.request.id',
  'mcp.session.id',
  'network.peer.port',
  'server.port',
]);

/** How many commands a request waits for depends on what is in the caches of its process. */
const REDIS = 'Redis command';

/**
 * Describes a trace as text, for golden files: a line a span, below its parent, with its kind, its name, its
 * process, its attributes and its error. A trace that links to it stands below the span that it links to.
 *
 * Ports are left out, and all commands of Redis below a span are one line. Processes need a
 * `service.instance.id`.
 */
export function describeTrace(spans: readonly ReceivedSpan[], traceId: string): string {
  return linesOfTrace(spans, traceId, '').join('\n') + '\n';
}

function linesOfTrace(
  spans: readonly ReceivedSpan[],
  traceId: string,
  indent: string,
): readonly string[] {
  const trees = buildSpanTrees(spans.filter((span) => span.traceId === traceId));
  return trees.flatMap((tree) => linesOfTree(spans, tree, indent));
}

function linesOfTree(
  spans: readonly ReceivedSpan[],
  { span, children }: SpanTree,
  indent: string,
): readonly string[] {
  const { code, message = '' } = span.status;
  const deeper = `${indent}  `;
  const instance = String(span.resource['service.instance.id']);
  const isRedis = (child: SpanTree): boolean => child.span.name === REDIS;
  return [
    `${indent}${span.kind} ${withoutPorts(span.name)} (${instance})`,
    ...linesOfAttributes(span.attributes, `${deeper}- `),
    ...span.events.flatMap((event) => [
      `${deeper}* ${event.name}`,
      ...linesOfAttributes(event.attributes, `${deeper}  - `),
    ]),
    ...(code === 'unset' ? [] : [`${deeper}= ${code}: ${withoutPorts(message)}`]),
    ...(children.some(isRedis) ? [`${deeper}client ${REDIS}, once or more (${instance})`] : []),
    ...children
      .filter((child) => !isRedis(child))
      .flatMap((child) => linesOfTree(spans, child, deeper)),
    ...tracesThatLinkTo(spans, span).flatMap((traceId) => [
      `${deeper}~ a trace that links to this span`,
      ...linesOfTrace(spans, traceId, `${deeper}  `),
    ]),
  ];
}

/** Other traces that link to a span, in the order in which they began. */
function tracesThatLinkTo(
  spans: readonly ReceivedSpan[],
  { traceId, spanId }: ReceivedSpan,
): readonly string[] {
  const linking = spans.filter(
    (other) => other.traceId !== traceId && other.links.some((link) => link.spanId === spanId),
  );
  const inOrder = linking.toSorted((one, other) => (one.start < other.start ? -1 : 1));
  return [...new Set(inOrder.map((span) => span.traceId))];
}

function linesOfAttributes(
  attributes: ReceivedSpan['attributes'],
  indent: string,
): readonly string[] {
  return Object.entries(attributes)
    .filter(([name]) => !VARYING.has(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${indent}${name}: ${withoutPorts(String(value))}`);
}

function withoutPorts(text: string): string {
  return text.replaceAll(/(?<=[\w\]]):\d{4,5}\b/g, ':PORT');
}
