import { loosePath } from '../../paths/loose-path.ts';
import type { StringMatcher } from '../language/criterion-definition.ts';
import { matcherCriterion } from '../operands/matcher-criterion.ts';
import { rememberSeveral } from '../operands/remember-several.ts';

/** A message is about so many resources at most. */
const MAX_RESOURCES = 64;

/** The resources that a message reads, subscribes to, or completes the URI of. */
export const mcpResource = matcherCriterion(
  {
    name: 'mcp_resource',
    reasons: { whenTrue: 'mcp-resource-ok', whenFalse: 'mcp-resource-unauthorized' },
    reads: ['message', 'resources'],
    onlyOn: 'mcp',
    row: {
      looksAt: '`uri` of a [`resources/read`](#resources-and-prompts)',
      compares: 'a text, exactly',
    },
  },
  {
    read: ({ resources }) => (resources.length === 0 ? null : resources),
    each: true,
    // Attack: a policy may have a thousand criteria that read the same resources.
    looseFold: rememberSeveral(looseUri, MAX_RESOURCES),
    rules: { problemOf },
  },
);

/** A parsed URI has other characters in their encoding, so that a part of it would never match. */
function problemOf(value: string, operator: keyof StringMatcher): string | undefined {
  const isPart = operator === 'contains' || operator === 'ends_with';
  if (!isPart || /^[ -~]*$/.test(value)) return undefined;
  return 'must be written as in a URL: with characters beyond ASCII encoded';
}

/**
 * Returns a URI as a lenient server reads it. Official SDKs look resources up by the result of the
 * WHATWG parser.
 *
 * Attack: `file:///public/../secret`, `FILE:///secret` or `file:///%73ecret` past a policy about
 * `file:///secret`.
 */
function looseUri(uri: string): string {
  return loosePath(URL.parse(uri)?.href ?? uri);
}
