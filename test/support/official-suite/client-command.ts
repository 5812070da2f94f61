/**
 * The command that the official suite runs for each client scenario. It hands the scenario to the test that
 * runs the suite, and exits with 0 if the client did all it had to. Not a module of the tests.
 */
const [controller = '', serverUrl = ''] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: name, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const { MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;

const response = await fetch(controller, {
  method: 'POST',
  body: JSON.stringify({ name, revision, serverUrl, context: JSON.parse(context) as unknown }),
});
process.stdout.write(await response.text());
process.exitCode = response.ok ? 0 : 1;
