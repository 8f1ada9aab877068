// Keeps a page for the time without a network: what all games share, and a game when its page asks for it.

const VERSION = "@version@", FILES = ["@files@"]; // written by play.py

const keep = async (files) => (await caches.open(VERSION)).addAll(files);
self.addEventListener("install", (event) => event.waitUntil(keep(FILES).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("pbm-play-") && name !== VERSION) await caches.delete(name);
  await self.clients.claim();
})()));
self.addEventListener("message", (event) => event.waitUntil((async () => {
  const { game } = event.data;
  await keep([`${game}.html`, `${game}.wasm`, `${game}.json`]);
  event.source.postMessage({ kept: game });
})()));
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  const kept = caches.open(VERSION).then((cache) => cache.match(event.request));
  event.respondWith(kept.then((answer) => answer ?? fetch(event.request)));
});
