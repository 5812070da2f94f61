import { expect, test } from '@jest/globals';

import { launchBrowser, screenshot } from '../support/browser.ts';
import { describeWithBrowser } from '../support/describe-with-browser.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';

describeWithBrowser('A person in a real browser', () => {
  test('who opens an MCP URL sees the URL to give to a client', async () => {
    await using world = await startGatewayWithUsers();
    const from = world.originOf('files');
    const server = { to: 'http://127.0.0.1:1', mcp: { server: {} } };
    await world.configure({ mcp: { from, ...server, allowAnyAuthenticatedUser: true } });
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      const answer = await page.goto(from);

      expect(answer?.status()).toBe(200);
      expect(await page.title()).toBe('This is the address of an MCP server');
      expect(await page.locator('code.copy').innerText()).toBe(from);
      const settings: unknown = JSON.parse(await page.locator('pre').innerText());
      expect(settings).toEqual({ mcpServers: { 'my-server': { type: 'http', url: from } } });
      await screenshot(page, 'mcp-page');
    } finally {
      await browser.close();
    }
  });
});
