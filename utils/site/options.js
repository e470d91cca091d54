// In a search, - excludes a word. Here a word with - in front is an option.
for (const name of ['input', 'keyup'])
  document.addEventListener(name, event => {
    const {target} = event;
    if (target.matches('.md-search__input') && /(^|\s)-/.test(target.value))
      target.value = target.value.replace(/(^|\s)-+/g, '$1');
  }, true);
