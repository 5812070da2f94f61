/**
 * Client scenarios of the official suite whose route needs more than discovery, with the reason. There are
 * no others: every scored scenario passes.
 */
export const CLIENT_IDS: Readonly<Record<string, string>> = {
  /*
   * The suite takes a single metadata document for the client's, at a host that does not exist. So the route
   * names it as its client ID, as an operator does who publishes the document elsewhere. That the gateway
   * uses its own document is tested in test/integration/upstream-oauth/registrations.test.ts.
   */
  'auth/basic-cimd': 'https://conformance-test.local/client-metadata.json',
};
