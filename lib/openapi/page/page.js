/* global SwaggerUIBundle */

/*
 * Starts the renderer on the reference page. A file of its own, because the page's policy forbids inline scripts.
 */
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

SwaggerUIBundle({
  url: document.documentElement.dataset.document,
  dom_id: '#reference',
  deepLinking: true,
  filter: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  // What is tried out may change data, so a credential is asked for each time the page is opened.
  persistAuthorization: false,
  // The validator of the renderer's makers would be sent the address of the document.
  validatorUrl: null,
});
